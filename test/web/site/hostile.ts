/** Answers that try to use up the memory, the time or the patience of their reader. */
import { constants, createBrotliCompress, deflateRawSync, gzipSync } from "node:zlib";
import type { ServerResponse } from "node:http";
import { type Route, send, sendHtml, type Visit } from "./server.ts";

const html = { "content-type": "text/html; charset=utf-8" };
const mebibyte = 1_048_576;

/** Writes and waits until the bytes have left; false once the visitor is gone. */
async function write(response: ServerResponse, bytes: string | Uint8Array): Promise<boolean> {
  if (response.destroyed || response.writableEnded) return false;
  if (response.write(bytes)) {
    await new Promise((resolve) => setImmediate(resolve));
    return !response.destroyed;
  }
  await new Promise<void>((resolve) => {
    const go = (): void => {
      response.off("drain", go).off("close", go);
      resolve();
    };
    response.on("drain", go).on("close", go);
  });
  return !response.destroyed;
}

/** Sends pieces until there are no more or the visitor is gone. */
export function sendPieces(headers: Record<string, string>, pieces: () => Iterable<string | Uint8Array>): Route {
  return async ({ response }) => {
    response.writeHead(200, headers);
    for (const piece of pieces()) if (!(await write(response, piece))) return;
    response.end();
  };
}

function* repeat(piece: string | Uint8Array, times = Infinity): Generator<string | Uint8Array> {
  for (let sent = 0; sent < times; sent += 1) yield piece;
}

const bombMebibytes = 4_096;

/** 4 GiB of spaces in some 4 MB: a block of deflate that ends at a byte can be sent any number of times. */
function* gzipBomb(): Generator<Uint8Array> {
  const blockMebibytes = 16;
  const block = deflateRawSync(Buffer.alloc(blockMebibytes * mebibyte, 32), { finishFlush: constants.Z_FULL_FLUSH });
  yield Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
  for (let sent = 0; sent < bombMebibytes; sent += blockMebibytes) yield block;
}

/** A gibibyte of spaces in about a kilobyte. */
async function brotliBomb({ response }: Visit): Promise<void> {
  response.writeHead(200, { ...html, "content-encoding": "br" });
  const encoder = createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
  encoder.pipe(response);
  response.on("close", () => encoder.destroy());
  const block = Buffer.alloc(mebibyte, 32);
  const closed = new Promise<void>((resolve) => encoder.once("close", resolve));
  for (let sent = 0; sent < 1_024 && !encoder.destroyed; sent += 1) {
    if (encoder.write(block)) continue;
    await Promise.race([closed, new Promise<void>((resolve) => encoder.once("drain", resolve))]);
  }
  if (!encoder.destroyed) encoder.end();
}

function layered(layers: number): Route {
  let bytes: Uint8Array = Buffer.alloc(64 * mebibyte, 32);
  for (let layer = 0; layer < layers; layer += 1) bytes = gzipSync(bytes);
  return send(bytes, { ...html, "content-encoding": Array.from({ length: layers }, () => "gzip").join(", ") });
}

/** Sends a text, then a byte every so often, for ever; `?ms=` sets the interval. */
export function sendDrips(first: string): Route {
  return async ({ response, url }) => {
    response.writeHead(200, html);
    response.flushHeaders();
    const intervalMs = Number(url.searchParams.get("ms") ?? 100);
    for (let next = `${first}x`; await write(response, next); next = "x") {
      await new Promise((resolve) => setTimeout(resolve, intervalMs));
    }
  };
}

const nesting = 100_000;

function nested(tag: string): Route {
  return sendHtml(
    `<!doctype html><title>Deep</title>${`<${tag}>`.repeat(nesting)}bottom${`</${tag}>`.repeat(nesting)}`,
  );
}

/** Expands to 10^9 texts if entities are replaced. */
function billionLaughs(): string {
  const entities = Array.from({ length: 9 }, (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`);
  return `<?xml version="1.0"?>\n<!DOCTYPE lolz [<!ENTITY l0 "lol">${entities.join("")}]>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>&l9;</loc></url></urlset>`;
}

const externalEntity = `<?xml version="1.0"?>\n<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<r>&x;</r>`;

/** A PDF whose tree of pages refers to itself. */
const loopPdf = `%PDF-1.4
1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj
2 0 obj\n<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 1000000000 >>\nendobj
trailer\n<< /Size 3 /Root 1 0 R >>\nstartxref\n0\n%%EOF`;

/** A PDF with a stream of a GiB in a megabyte. */
function bombPdf(): Buffer {
  const bytes = gzipSync(Buffer.alloc(256 * mebibyte, 32));
  // Zlib's header in place of gzip's, and without its trailer.
  const body = Buffer.concat([Buffer.from([0x78, 0x9c]), bytes.subarray(10, -8)]);
  const head = `%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R >>\nendobj\n4 0 obj\n<< /Length ${body.length} /Filter /FlateDecode >>\nstream\n`;
  const tail = `\nendstream\nendobj\ntrailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n0\n%%EOF`;
  return Buffer.concat([Buffer.from(head), body, Buffer.from(tail)]);
}

/** Written at their first visit, since some take a while to make. */
function lazy(make: () => Route): Route {
  let route: Route | undefined;
  return (visit) => (route ??= make())(visit);
}

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Links that are all different, in pieces of a thousand. */
function* manyLinks(count: number): Generator<string> {
  yield `<!doctype html><title>A million links</title><h1>A million links</h1><ul>`;
  for (let start = 0; start < count; start += 1_000) {
    yield Array.from({ length: 1_000 }, (_, index) => `<li><a href="/l/${start + index}">${start + index}</a>`).join(
      "",
    );
  }
}

/** A sitemap with so many addresses below `/crawl/`. */
export function* hugeSitemap(origin: string, count: number): Generator<string> {
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`;
  for (let start = 0; start < count; start += 1_000) {
    yield Array.from({ length: 1_000 }, (_, index) => `<url><loc>${origin}/listed/${start + index}</loc></url>`).join(
      "",
    );
  }
  yield "</urlset>";
}

/** All of them, below `/hostile/`. */
export const hostileRoutes: Readonly<Record<string, Route>> = {
  "/hostile/gzip-bomb": sendPieces({ ...html, "content-encoding": "gzip" }, gzipBomb),
  "/hostile/brotli-bomb": brotliBomb,
  "/hostile/layered-bomb": lazy(() => layered(3)),
  "/hostile/endless": sendPieces(html, () => repeat(`<p>${"more ".repeat(200)}</p>`)),
  "/hostile/endless-line": sendPieces(html, () => repeat("x".repeat(16_384))),
  "/hostile/drip": sendDrips(""),
  "/hostile/silent": ({ request }) => void request.socket.setTimeout(0),
  "/hostile/headers-only": ({ response }) => response.writeHead(200, html).flushHeaders(),
  "/hostile/cut": ({ response }) => {
    response.writeHead(200, { ...html, "content-length": "100000" });
    response.write(`<!doctype html><title>Cut</title><p>${"half ".repeat(100)}`, () => response.destroy());
  },
  "/hostile/reset": ({ request }) => void request.socket.resetAndDestroy(),
  "/hostile/garbage": ({ request }) => void request.socket.end("\0\x01\x02 this is not HTTP\r\n\r\n"),
  "/hostile/big-header": ({ response }) =>
    void response.writeHead(200, { ...html, "x-big": "h".repeat(mebibyte) }).end("<p>big"),
  "/hostile/many-headers": ({ response }) => {
    for (let index = 0; index < 20_000; index += 1) response.setHeader(`x-${index}`, "1");
    response.writeHead(200, html).end("<p>many");
  },
  "/hostile/million-links": sendPieces(html, () => manyLinks(1_000_000)),
  "/hostile/deep-div": nested("div"),
  "/hostile/deep-inline": nested("b"),
  "/hostile/deep-list": nested("ul><li"),
  "/hostile/deep-quote": nested("blockquote"),
  "/hostile/deep-table": nested("table><tr><td"),
  "/hostile/wide-table": sendHtml(`<table>${"<tr><td colspan=1000 rowspan=1000>x".repeat(500)}</table>`),
  "/hostile/stars": sendHtml(`<p>${"*_[`".repeat(100_000)}</p>`),
  "/hostile/entities": sendHtml(`<p>${"&amp;".repeat(200_000)}</p>`),
  "/hostile/open-comments": sendHtml("<!--".repeat(200_000)),
  "/hostile/big-attribute": sendHtml(`<p title="${"a".repeat(4 * mebibyte)}">short</p>`),
  "/hostile/many-attributes": sendHtml(
    `<p ${Array.from({ length: 30_000 }, (_, index) => `a${index}=1`).join(" ")}>short</p>`,
  ),
  "/hostile/billion-laughs.xml": send(billionLaughs(), "application/xml"),
  "/hostile/external-entity.xml": send(externalEntity, "application/xml"),
  "/hostile/loop.pdf": send(loopPdf, "application/pdf"),
  "/hostile/bomb.pdf": lazy(() => send(bombPdf(), "application/pdf")),
  "/hostile/broken.pdf": send("%PDF-1.7\n1 0 obj << /Type /Catalog", "application/pdf"),
  "/hostile/picture-as-html": send(png, html),
  "/hostile/picture": send(png, "image/png"),
  "/hostile/broken-gzip": send("this is no gzip", { ...html, "content-encoding": "gzip" }),
  "/hostile/unknown-encoding": send("?", { ...html, "content-encoding": "rot13" }),
  "/hostile/huge-sitemap.xml": ({ response, origin, ...visit }) =>
    sendPieces({ "content-type": "application/xml" }, () => hugeSitemap(origin, 1_000_000))({
      response,
      origin,
      ...visit,
    }),
};
