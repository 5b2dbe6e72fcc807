/** Sitemaps of real servers on the loopback interface, taken apart by real children. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { CallAborter } from "../../core/index.ts";
import { PagePool } from "../../pages/index.ts";
import { MemoryBudget } from "../../streaming/index.ts";
import { outboundTo } from "../__fixtures__/outbound-to.ts";
import { failureOf } from "../../../test/kit/failure-of.ts";
import { readSitemaps, type SitemapDependencies, type SitemapReading } from "./read-sitemaps.ts";

const MEBIBYTE = 1_048_576;

let pages: PagePool;
beforeAll(() => {
  pages = new PagePool({ children: 1 });
});
afterAll(() => pages.close());

const stopping: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stopping.splice(0)) await stop();
});

type Answer = Response | string | undefined;

interface Site {
  url: string;
  /** The paths that were requested. */
  asked: string[];
  /** The most requests at the same time. */
  readonly mostAtOnce: number;
}

/** A site with these files. */
function siteWith(answer: (path: string, origin: string) => Answer | Promise<Answer>): Site {
  const asked: string[] = [];
  let open = 0;
  let mostAtOnce = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch({ url }) {
      const { pathname, origin } = new URL(url);
      asked.push(pathname);
      open += 1;
      mostAtOnce = Math.max(mostAtOnce, open);
      const found = await answer(pathname, origin);
      open -= 1;
      if (found instanceof Response) return found;
      return found === undefined ? new Response("", { status: 404 }) : new Response(found);
    },
  });
  stopping.push(() => server.stop(true));
  return {
    url: `http://127.0.0.1:${server.port}`,
    asked,
    get mostAtOnce() {
      return mostAtOnce;
    },
  };
}

const mapOf = (addresses: readonly string[]): string =>
  `<urlset>${addresses.map((address) => `<url><loc>${address}</loc></url>`).join("")}</urlset>`;

const indexOf = (addresses: readonly string[]): string =>
  `<sitemapindex>${addresses.map((address) => `<sitemap><loc>${address}</loc></sitemap>`).join("")}</sitemapindex>`;

function upTo(count: number, nameOf: (index: number) => string): string[] {
  return Array.from({ length: count }, (_, index) => nameOf(index));
}

interface Read {
  /** The paths of the pages. */
  found: string[];
  /** The path of the sitemap by its problem. */
  left: Record<string, string>;
  retryAfterMs?: number;
}

async function read(
  { url }: Pick<Site, "url">,
  reading: Partial<SitemapReading> = {},
  deps: Partial<SitemapDependencies> = {},
): Promise<Read> {
  const found: string[] = [];
  const memory = new MemoryBudget(512 * MEBIBYTE);
  const { left, retryAfterMs } = await readSitemaps(
    { outbound: outboundTo(url), pages, memory, userAgent: "Tollgate/1", environment: { clock: () => 0 }, ...deps },
    {
      owner: "alice",
      siteUrl: `${url}/docs/`,
      listed: [],
      filesAtOnce: 1,
      signal: new CallAborter().signal,
      timeLeft: () => 10_000,
      onPage: (page) => found.push(new URL(page.url).pathname) > 0,
      ...reading,
    },
  );
  expect(memory.used).toBe(0);
  const problems = [...left].map(([problem, at]): [string, string] => [problem, new URL(at).pathname]);
  return { found, left: Object.fromEntries(problems), ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** A body that sends this text and then nothing more. */
function silentAfter(text: string): Response {
  return new Response(new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from(text)) }));
}

/** A site whose answers break off after this text. */
function brokenAfter(text: string): Pick<Site, "url"> {
  const answer = `HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n${text}`;
  const socket = { data: (each: Bun.Socket) => void each.end(answer) };
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket });
  stopping.push(() => Promise.resolve(server.stop(true)));
  return { url: `http://127.0.0.1:${server.port}` };
}

describe("the sitemaps of a site", () => {
  test("that has too many requests are told apart from those that are missing", async () => {
    const busy = (status: number, wait: string): Response =>
      new Response("", { status, headers: { "retry-after": wait } });
    const files: Record<string, Answer> = {
      "/a.xml": busy(429, "20"),
      "/b.xml": busy(503, "Thu, 01 Jan 1970 00:00:30 GMT"),
      "/c.xml": new Response("", { status: 503 }),
    };
    const site = siteWith((path) => files[path]);
    expect(await read(site, { listed: Object.keys(files) })).toEqual({
      found: [],
      left: { RATE_LIMITED: "/a.xml", SITEMAP_UNREADABLE: "/c.xml" },
      retryAfterMs: 30_000,
    });
  });

  test("are those that are listed, each once, with what indexes lead to, in any format", async () => {
    const files: Record<string, Answer> = {
      "/index.xml": indexOf(["/maps/1.xml.gz", "/maps/2.txt", "/index.xml", "/other.xml"]),
      "/maps/1.xml.gz": new Response(gzipSync(mapOf(["/a", "b"]))),
      "/other.xml": mapOf(["/d"]),
    };
    const site = siteWith((path, origin) => (path === "/maps/2.txt" ? `${origin}/c\n` : files[path]));
    expect(await read(site, { listed: ["/index.xml", `${site.url}/other.xml`, "http://[broken"] })).toEqual({
      found: ["/d", "/a", "/maps/b", "/c"],
      left: {},
    });
    expect(site.asked).toEqual(["/index.xml", "/other.xml", "/maps/1.xml.gz", "/maps/2.txt"]);
  });

  test("are the usual one if none is listed, without a word if there is none", async () => {
    expect(await read(siteWith((path) => (path === "/sitemap.xml" ? mapOf(["/a"]) : undefined)))).toEqual({
      found: ["/a"],
      left: {},
    });
    expect(await read(siteWith(() => undefined))).toEqual({ found: [], left: {} });
    expect(await read(siteWith(() => "<!doctype html><title>Home</title>"))).toEqual({ found: [], left: {} });
  });

  test("have addresses that are relative to where a redirect leads", async () => {
    const site = siteWith((path) =>
      path === "/sitemap.xml"
        ? Response.redirect("/maps/1.xml", 301)
        : path === "/maps/1.xml"
          ? mapOf(["b"])
          : undefined,
    );
    expect((await read(site)).found).toEqual(["/maps/b"]);
  });

  test("are read one after the other, or several at once", async () => {
    const { promise: all, resolve } = Promise.withResolvers<void>();
    let waiting = 0;
    const listed = upTo(8, (index) => `/${index}.xml`);
    const site = siteWith(async (path) => {
      waiting += 1;
      if (waiting === 4) resolve();
      await all;
      return mapOf([`/page${path}`]);
    });
    expect((await read(site, { listed, filesAtOnce: 4 })).found).toHaveLength(8);
    expect(site.mostAtOnce).toBe(4);
    const other = siteWith((path) => mapOf([`/page${path}`]));
    expect((await read(other, { listed })).found).toHaveLength(8);
    expect(other.mostAtOnce).toBe(1);
  });

  test("that cannot be read are left out, and the first of them is named", async () => {
    const files: Record<string, Answer> = {
      "/html.xml": "<!doctype html><title>Home</title>",
      "/bad.gz": new Response(Buffer.from([0x1f, 0x8b, 1, 2, 3])),
      "/last.xml": mapOf(["/a"]),
    };
    const listed = ["/missing.xml", "/html.xml", "/bad.gz", "http://127.0.0.2:1/refused.xml", "/last.xml"];
    const { found, left } = await read(
      siteWith((path) => files[path]),
      { listed },
    );
    expect([found, left]).toEqual([["/a"], { SITEMAP_UNREADABLE: "/missing.xml" }]);
  });

  test("that break off are read as far as they came", async () => {
    const piece = `${mapOf(["/a", "/b"]).replace("</urlset>", "")}<url><loc>/c`;
    const { found, left } = await read(brokenAfter(piece), { listed: ["/1.xml"] });
    expect([found, left]).toEqual([["/a", "/b"], { SITEMAP_UNREADABLE: "/1.xml" }]);
  });
});

describe("bounds", () => {
  test("files", async () => {
    const site = siteWith((path) =>
      path === "/index.xml" ? indexOf(upTo(300, (index) => `/${index}.xml`)) : mapOf([`/page${path}`]),
    );
    const { found, left } = await read(site, { listed: ["/index.xml"], filesAtOnce: 4 });
    expect([found.length, site.asked.length, left]).toEqual([199, 200, { SITEMAP_TRUNCATED: "/index.xml" }]);
    const listed = upTo(201, (index) => `/${index}.xml`);
    expect((await read(site, { listed, filesAtOnce: 4 })).left).toEqual({ SITEMAP_TRUNCATED: "/200.xml" });
  });

  test("addresses of one file, and of all", async () => {
    const site = siteWith((path) => mapOf(upTo(path === "/1.xml" ? 100_001 : 40_000, (index) => `${path}/${index}`)));
    const one = await read(site, { listed: ["/1.xml"] });
    expect([one.found.length, one.left]).toEqual([100_000, { SITEMAP_TRUNCATED: "/1.xml" }]);
    const all = await read(site, { listed: ["/2.xml", "/3.xml", "/4.xml", "/5.xml"] });
    expect([all.found.length, all.left]).toEqual([100_000, { SITEMAP_TRUNCATED: "/4.xml" }]);
    expect(site.asked).not.toContain("/5.xml");
  });

  test("characters of all", async () => {
    const site = siteWith((path) => mapOf(upTo(3_000, (index) => `${path}/${"x".repeat(3_000)}/${index}`)));
    const { found, left } = await read(site, { listed: ["/1.xml", "/2.xml", "/3.xml"] });
    expect(found.length).toBeWithin(6_500, 6_700);
    expect(left).toEqual({ SITEMAP_TRUNCATED: "/3.xml" });
  });

  test("bytes of a file: its beginning is read", async () => {
    const piece = Buffer.from(" ".repeat(MEBIBYTE));
    let sent = 0;
    const endless = (): Response =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(Buffer.from("<urlset><url><loc>/a</loc></url>")),
          pull(controller) {
            sent += 1;
            controller.enqueue(piece);
          },
        }),
      );
    const { found, left } = await read(siteWith(endless));
    expect([found, left]).toEqual([["/a"], { SITEMAP_TRUNCATED: "/sitemap.xml" }]);
    // Sockets hold some more than was read.
    expect(sent).toBeLessThan(100);
  });

  test("room for pages", async () => {
    const site = siteWith((path) => mapOf([`${path}/a`, `${path}/b`]));
    const taken: string[] = [];
    const onPage = ({ url }: { url: string }): boolean => taken.length < 3 && taken.push(url) > 0;
    const { left } = await read(site, { listed: ["/1.xml", "/2.xml", "/3.xml"], onPage });
    expect([taken.length, left]).toEqual([3, { SITEMAP_TRUNCATED: "/2.xml" }]);
    expect(site.asked).toEqual(["/1.xml", "/2.xml"]);
  });

  test("time: what came until then is read, and nothing more requested", async () => {
    const { promise: dripping, resolve } = Promise.withResolvers<void>();
    const site = siteWith((path) => {
      if (path !== "/2.xml") return mapOf([`/page${path}`]);
      resolve();
      return silentAfter(mapOf(["/a", "/b"]).replace("</urlset>", "<url><loc>/c"));
    });
    let left = 10_000;
    void dripping.then(() => (left = 0));
    const reading = { listed: ["/1.xml", "/2.xml", "/3.xml"], timeLeft: () => (left === 0 ? 0 : 500) };
    expect(await read(site, reading)).toEqual({
      found: ["/page/1.xml", "/a", "/b"],
      left: { SITEMAP_TIMEOUT: "/2.xml" },
    });
    expect(site.asked).toEqual(["/1.xml", "/2.xml"]);
  });
});

describe("a reading fails", () => {
  test("with the reason of its signal", async () => {
    const hangUp = new CallAborter();
    const site = siteWith((path) => {
      if (path === "/3.xml") hangUp.abort(new Error("hung up"));
      return path === "/3.xml" ? silentAfter("<urlset>") : mapOf(["/a"]);
    });
    const listed = upTo(9, (index) => `/${index}.xml`);
    const { signal } = hangUp;
    expect(await failureOf(read(site, { listed, signal, filesAtOnce: 2 }))).toMatchObject({ message: "hung up" });
  });

  test("if the page pool is too busy, or closed", async () => {
    const closed = new PagePool();
    await closed.close();
    const site = siteWith(() => mapOf(["/a"]));
    expect(await failureOf(read(site, { listed: ["/1.xml", "/2.xml"] }, { pages: closed }))).toMatchObject({
      failure: "busy",
    });
    expect(site.asked).toEqual(["/1.xml"]);
  });

  test("if memory is short", async () => {
    const site = siteWith(() => mapOf(upTo(100_000, (index) => `/${index}`)));
    const memory = new MemoryBudget(MEBIBYTE);
    expect(await failureOf(read(site, {}, { memory }))).toMatchObject({ code: "memory_exhausted" });
  });
});
