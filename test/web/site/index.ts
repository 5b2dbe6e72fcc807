/**
 * A web site on loopback with more than a hundred pages of shapes that the real web has, the texts that their scrapes
 * should give, and answers that are hostile. It records every request.
 */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { type CharsetPage, charsetPages } from "./charsets.ts";
import { type ContentPage, contentPages } from "./content.ts";
import { type DocumentPage, documentPages } from "./documents.ts";
import { hostileRoutes } from "./hostile.ts";
import { badRedirects, goodRedirects } from "./redirects.ts";
import { scriptedData, type ScriptedPage, scriptedPages } from "./scripted.ts";
import { listenOn, type Route, send, sendHtml, type TestSite, type Visit } from "./server.ts";

export { compareMarkdown } from "./compare.ts";

/** The web site with its expectations. */
export interface WebSite extends TestSite {
  readonly content: readonly ContentPage[];
  readonly charsets: readonly CharsetPage[];
  readonly documents: readonly DocumentPage[];
  readonly scripted: readonly ScriptedPage[];
  /** Paths of the same page in every content encoding. */
  readonly encoded: readonly string[];
  /** The page behind them and behind all good redirects. */
  readonly target: ContentPage;
  /** Paths of redirects that lead to the target, and of those that nobody may follow to their end. */
  readonly goodRedirects: readonly string[];
  readonly badRedirects: readonly string[];
  readonly hostile: readonly string[];
  /** The paths that robots.txt and the sitemaps list. */
  readonly listed: readonly string[];
}

/** Starts it on a free port of 127.0.0.1. */
export async function startWebSite(): Promise<WebSite> {
  const content = contentPages();
  const charsets = charsetPages();
  const documents = documentPages();
  const scripted = scriptedPages();
  const target = content.find(({ path }) => path === "/docusaurus/install");
  if (target === undefined) throw new Error("expected/docs/install.md is missing");
  const listed = content.map(({ path }) => path);
  const encoded = encodedRoutes(target.html);
  const routes = new Map<string, Route>([
    ...content.map(({ path, html }): [string, Route] => [path, sendHtml(html)]),
    ...[...charsets, ...documents, ...scripted].map(({ path, route }): [string, Route] => [path, route]),
    ["/app/data.json", scriptedData],
    ...Object.entries({
      ...encoded,
      ...goodRedirects,
      ...badRedirects,
      ...hostileRoutes,
      ...sitemapRoutes(listed),
      ...plainRoutes,
    }),
    ["/", sendHtml(homePage(content))],
  ]);
  const site = await listenOn((pathname) => routes.get(pathname));
  return {
    ...site,
    content,
    charsets,
    documents,
    scripted,
    encoded: Object.keys(encoded),
    target,
    goodRedirects: Object.keys(goodRedirects).filter((path) => !/\/chain\/\d/.test(path)),
    badRedirects: Object.keys(badRedirects).filter((path) => !/\/long-chain\/\d/.test(path)),
    hostile: Object.keys(hostileRoutes),
    listed,
  };
}

function homePage(content: readonly ContentPage[]): string {
  const links = content.map(({ path }) => `<li><a href="${path}">${path.slice(1).replaceAll(/[/-]/g, " ")}</a></li>`);
  return `<!doctype html><html lang="en"><head><title>A site of many shapes</title><meta name="description" content="Pages as the web has them"></head><body><main><h1>A site of many shapes</h1><p>Every page below is written as another kind of web site would write it.</p><ul>${links.join("\n")}</ul></main></body></html>`;
}

function encodedRoutes(html: string): Record<string, Route> {
  const bytes = Buffer.from(html);
  const encodings: [name: string, label: string, bytes: Uint8Array][] = [
    ["gzip", "gzip", gzipSync(bytes)],
    ["x-gzip", "x-gzip", gzipSync(bytes)],
    ["deflate", "deflate", deflateSync(bytes)],
    ["deflate-raw", "deflate", deflateRawSync(bytes)],
    ["br", "br", brotliCompressSync(bytes)],
    ["zstd", "zstd", Bun.zstdCompressSync(bytes)],
    ["two-layers", "gzip, br", brotliCompressSync(gzipSync(bytes))],
    ["identity", "identity", bytes],
  ];
  return Object.fromEntries(
    encodings.map(([name, label, encoded]) => {
      const headers = { "content-type": "text/html; charset=utf-8", "content-encoding": label };
      return [`/encoded/${name}`, send(encoded, headers)];
    }),
  );
}

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>\n`;
const space = `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`;

function indexOf(maps: readonly string[], origin: string): string {
  return `${xmlHead}<sitemapindex ${space}>${maps.map((path) => `<sitemap><loc>${origin}${path}</loc></sitemap>`).join("")}</sitemapindex>`;
}

function mapOf(paths: readonly string[], origin: string): string {
  return `${xmlHead}<urlset ${space}>${paths.map((path) => `<url><loc>${origin}${path}</loc><lastmod>2026-05-04</lastmod></url>`).join("\n")}</urlset>`;
}

/** An index of three maps: one plain, one compressed, one a list of addresses. Another index lists itself. */
function sitemapRoutes(listed: readonly string[]): Record<string, Route> {
  const third = Math.ceil(listed.length / 3);
  const [first, second, last] = [listed.slice(0, third), listed.slice(third, 2 * third), listed.slice(2 * third)];
  const xml = (write: (origin: string) => string): Route =>
    asVisit((visit) => send(write(visit.origin), "application/xml; charset=utf-8"));
  return {
    "/robots.txt": asVisit(({ origin }) =>
      send(`User-agent: *\nDisallow: /private/\n\nSitemap: ${origin}/sitemap-index.xml\n`, "text/plain"),
    ),
    "/sitemap-index.xml": xml((origin) =>
      indexOf(["/sitemaps/1.xml", "/sitemaps/2.xml.gz", "/sitemaps/3.txt"], origin),
    ),
    "/sitemaps/1.xml": xml((origin) => mapOf(first, origin)),
    "/sitemaps/2.xml.gz": asVisit(({ origin }) => send(gzipSync(mapOf(second, origin)), "application/gzip")),
    "/sitemaps/3.txt": asVisit(({ origin }) => send(last.map((path) => origin + path).join("\n"), "text/plain")),
    "/hostile/sitemap-loop.xml": xml((origin) => indexOf(["/hostile/sitemap-loop.xml"], origin)),
  };
}

function asVisit(make: (visit: Visit) => Route): Route {
  return (visit) => make(visit)(visit);
}

/** Pages that show what arrived, and statuses. */
const plainRoutes: Record<string, Route> = {
  "/private/page": sendHtml("<title>Private</title><h1>Private</h1><p>robots.txt asks crawlers to stay away."),
  "/echo": ({ request, response, url }) => {
    const seen = { method: request.method, headers: request.headers, query: Object.fromEntries(url.searchParams) };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(seen));
  },
  "/status/404": sendHtml("<title>Gone away</title><h1>Gone away</h1><p>This page is not here, but its text is.", 404),
  "/status/403": sendHtml("<title>Forbidden</title><h1>Forbidden</h1>", 403),
  "/status/500": sendHtml("<title>Broken</title><h1>Broken</h1><p>The server has a bad day.", 500),
  "/status/503": send("busy", { "content-type": "text/plain", "retry-after": "1" }, 503),
  "/status/204": ({ response }) => void response.writeHead(204).end(),
  "/empty": send("", "text/html"),
};
