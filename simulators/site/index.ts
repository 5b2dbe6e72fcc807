import {
  dataSheet,
  feed,
  livePage,
  pagesSitemap,
  readings,
  robotsText,
  sectionsSitemap,
  sitemapIndex,
} from "./documents.ts";
import { renderPage, type Shown } from "./layout.ts";
import { assetNames, readAsset, type SitePage, sitePages } from "./pages.ts";

export { sitePages } from "./pages.ts";

/** The running demo site. */
export interface DemoSite {
  /** For example `http://127.0.0.1:8788`. */
  readonly url: string;
  stop(): Promise<void>;
}

export interface DemoSiteOptions {
  readonly host: string;
  /** 0: the system chooses. If the port is taken, it chooses as well. */
  readonly port: number;
}

/**
 * Starts the demo site: a small company's pages, documentation, blog, shop and forum. Addresses in its pages begin with
 * the scheme and host of the request.
 */
export function startDemoSite(options: DemoSiteOptions): DemoSite {
  const server = serveOn(options);
  return { url: `http://${options.host}:${server.port}`, stop: () => server.stop(true) };
}

function serveOn({ host, port }: DemoSiteOptions) {
  try {
    return Bun.serve({ hostname: host, port, fetch: answer });
  } catch (error) {
    const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    if (!isTaken || port === 0) throw error;
    return Bun.serve({ hostname: host, port: 0, fetch: answer });
  }
}

type Render = (shown: Shown) => Response;

let routes: ReadonlyMap<string, Render> | undefined;

function answer(request: Request): Response {
  if (request.method !== "GET" && request.method !== "HEAD") return text("Method not allowed\n", { status: 405 });
  const { origin, pathname } = new URL(request.url);
  routes ??= new Map(allRoutes());
  const render = routes.get(pathname);
  if (render !== undefined) return render({ origin });
  const other = pathname.endsWith("/") ? pathname.slice(0, -1) : `${pathname}/`;
  if (routes.has(other)) return Response.redirect(other, 301);
  return html(renderPage(missingPage(pathname), { origin }), 404);
}

function* allRoutes(): Generator<[path: string, render: Render]> {
  for (const page of sitePages()) yield [page.path, (shown) => html(renderPage(page, shown))];
  for (const name of assetNames()) yield [`/assets/${name}`, () => file(readAsset(name), assetType(name))];
  yield ["/live", () => html(livePage)];
  yield ["/api/readings.json", () => Response.json(readings)];
  yield ["/files/bw-200-datasheet.pdf", () => file(dataSheet(), "application/pdf")];
  yield ["/robots.txt", (shown) => text(robotsText(shown))];
  yield ["/sitemap.xml", (shown) => xml(sitemapIndex(shown))];
  yield ["/sitemaps/pages.xml", (shown) => xml(pagesSitemap(shown))];
  yield ["/sitemaps/sections.xml.gz", (shown) => file(sectionsSitemap(shown), "application/gzip")];
  yield ["/feed.xml", (shown) => xml(feed(shown), "application/rss+xml; charset=utf-8")];
}

function missingPage(path: string): SitePage {
  const title = "This page does not exist";
  const markdown = `# ${title}\n\nPerhaps it has moved. Begin again at the [first page](/).`;
  return { path, section: "", title, description: "", markdown, date: null, front: {} };
}

function assetType(name: string): string {
  if (name.endsWith(".svg")) return "image/svg+xml";
  return name.endsWith(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8";
}

function html(body: string, status = 200): Response {
  return new Response(body, { status, headers: { "content-type": "text/html; charset=utf-8" } });
}

function xml(body: string, contentType = "application/xml; charset=utf-8"): Response {
  return file(Buffer.from(body), contentType);
}

function file(bytes: Buffer, contentType: string): Response {
  return new Response(new Uint8Array(bytes), { headers: { "content-type": contentType } });
}

function text(body: string, init: ResponseInit = {}): Response {
  return new Response(body, { ...init, headers: { "content-type": "text/plain; charset=utf-8" } });
}
