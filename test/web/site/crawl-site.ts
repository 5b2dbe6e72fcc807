/**
 * A site of more than 300 pages for crawls, with all that leads crawlers astray. Each page names itself in
 * `<meta name="page-id">` by the address that `crawl-expected.ts` lists, whatever address it was read at.
 */
import { writePdf } from "../../../simulators/shared/pdf.ts";
import { hostileRoutes, hugeSitemap, sendDrips, sendPieces } from "./hostile.ts";
import { listenOn, redirect, type Route, send, sendHtml, type TestSite, type Visit } from "./server.ts";

export interface CrawlSiteOptions {
  /** `drip` is a byte a second, `huge` 100 MB behind the rules. */
  robots?: "usual" | "missing" | "failing" | "huge" | "drip" | "forbids-all";
  /** In seconds; none by default. */
  crawlDelay?: number;
  /** `million` lists so many addresses that answer 404, `drip` one page and then sends a byte a second. */
  sitemap?: "usual" | "missing" | "million" | "loop" | "drip";
  /** The least size of a page. */
  pageBytes?: number;
}

export interface CrawlSite extends TestSite {
  /** Another site, which this one links to. */
  readonly partner: TestSite;
}

/** Starts both on free ports of 127.0.0.1. */
export async function startCrawlSite(options: CrawlSiteOptions = {}): Promise<CrawlSite> {
  const partner = await listenOn(findPartnerPage);
  const pages = new Map(sitePages({ ...options, partner: partner.url }));
  const site = await listenOn((pathname) => pages.get(pathname) ?? trapAt(pathname, options));
  return {
    ...site,
    partner,
    stop: async () => {
      await Promise.all([site.stop(), partner.stop()]);
    },
  };
}

interface Shape extends CrawlSiteOptions {
  readonly partner: string;
}

/** A link by its target, or by target and text. */
type Link = string;

function* sitePages(shape: Shape): Generator<[path: string, route: Route]> {
  const page = (id: string, links: readonly Link[] = []): [string, Route] => [id, pageRoute(id, links, shape)];
  yield page("/", homeLinks(shape.partner));
  yield* docs(page);
  yield* blog(page, shape);
  yield* shop(page, shape);
  yield* wiki(page, shape);
  yield* deep(page);
  for (const number of upTo(10)) yield page(`/orphans/${number}`, ["/"]);
  for (const number of upTo(10)) yield page(`/private/${number}`, ["/"]);
  yield page("/private/open", ["/private/1"]);
  yield* files();
  yield* errors();
  yield* redirects(shape.partner);
  yield ["/robots.txt", robots(shape)];
  yield* sitemaps(shape);
}

type MakePage = (id: string, links?: readonly Link[]) => [string, Route];

function upTo(count: number, from = 1): number[] {
  return Array.from({ length: count - from + 1 }, (_, index) => from + index);
}

function homeLinks(partner: string): Link[] {
  const forbidden = upTo(10).map((number) => `/private/${number}`);
  return `/docs/ /blog/ /shop/ /wiki/ /deep/1 /calendar/2026/5 /s/0a1b2c3d/catalog /again/ /private/open /files/report.pdf
    /files/picture.png /errors/404 /errors/gone /errors/500 /errors/cut /errors/slow /errors/loop
    /moved/docs /moved/chain /moved/partner ${partner}/ ${partner}/partner-1
    mailto:someone@example.org javascript:void(0) tel:+431234 #top http://[broken ftp://example.org/x
    /index.html /docs /docs/index.html /docs/?utm_source=home&utm_medium=link /wiki/#entries /./docs/`
    .split(/\s+/)
    .concat(forbidden, "");
}

function* docs(page: MakePage): Generator<[string, Route]> {
  const chapters = upTo(6).map((number) => `/docs/chapter-${number}/`);
  const front = page("/docs/", [...chapters, "/"]);
  yield front;
  yield ["/docs", front[1]];
  yield ["/docs/index.html", front[1]];
  for (const chapter of chapters) {
    const leaves = upTo(15).map((number) => `${chapter}page-${number}`);
    yield page(chapter, [...leaves, "/docs/"]);
    // Relative links, and the neighbour by way of the parent.
    for (const [index, leaf] of leaves.entries())
      yield page(leaf, [`page-${((index + 1) % 15) + 1}`, "./", `../${chapter.split("/")[2] ?? ""}/page-1`]);
  }
}

/** Ten posts a page; the page is chosen by the query. */
function* blog(_page: MakePage, shape: Shape): Generator<[string, Route]> {
  yield [
    "/blog/",
    (visit) => {
      const number = Number(visit.url.searchParams.get("page") ?? 1);
      const posts = upTo(10).map((index) => `/blog/post-${(number - 1) * 10 + index}`);
      const others = upTo(8).map((other) => (other === 1 ? "/blog/" : `/blog/?page=${other}`));
      const isKnown = number >= 1 && number <= 8;
      const id = number === 1 ? "/blog/" : `/blog/?page=${number}`;
      const route = isKnown
        ? pageRoute(id, [...posts, ...others], shape)
        : sendHtml("<title>No such page</title>", 404);
      return route(visit);
    },
  ];
  for (const number of upTo(80)) {
    const id = `/blog/post-${number}`;
    yield [id, pageRoute(id, ["/blog/", `/blog/post-${(number % 80) + 1}?utm_campaign=next&fbclid=x${number}`], shape)];
  }
}

/** Shelves can be sorted, which shows the same page again and names the plain one as canonical. */
function* shop(page: MakePage, shape: Shape): Generator<[string, Route]> {
  const shelves = upTo(5).map((number) => `/shop/shelf-${number}/`);
  yield page("/shop/", shelves);
  for (const shelf of shelves) {
    const items = upTo(12).map((number) => `${shelf}item-${number}`);
    yield [shelf, pageRoute(shelf, [...items, `${shelf}?utm_source=shelf`, "/shop/"], { ...shape, canonical: shelf })];
    for (const item of items) yield page(item, [shelf, `${item}#reviews`, `${item}?gclid=abc`]);
  }
}

/** Every entry is linked under several spellings of its address. */
function* wiki(page: MakePage, shape: Shape): Generator<[string, Route]> {
  const entries = upTo(40).map((number) => `/wiki/entry-${number}`);
  const spellings = entries.flatMap((entry, index) => {
    const other = [
      `${entry}/`,
      `${entry}#history`,
      `${entry}?utm_source=wiki`,
      `/wiki/./entry-${index + 1}`,
      `/docs/../wiki/entry-${index + 1}`,
    ];
    return [entry, other[index % other.length] ?? entry];
  });
  const views = [
    "/wiki/view?id=7&lang=en",
    "/wiki/view?lang=en&id=7",
    "/wiki/%C3%A4pfel",
    "/wiki/%c3%a4pfel",
    "/wiki/äpfel",
  ];
  yield page("/wiki/", [...spellings, ...views]);
  for (const [index, entry] of entries.entries()) {
    const route = pageRoute(entry, ["/wiki/", entries[(index * 7 + 3) % 40] ?? "/wiki/"], shape);
    yield [entry, route];
    yield [`${entry}/`, route];
  }
  yield ["/wiki/view", pageRoute("/wiki/view?id=7&lang=en", ["/wiki/"], shape)];
  const apples = pageRoute("/wiki/%C3%A4pfel", ["/wiki/"], shape);
  yield ["/wiki/%C3%A4pfel", apples];
  yield ["/wiki/%c3%a4pfel", apples];
}

/** Each page can be reached only from the one before. */
function* deep(page: MakePage): Generator<[string, Route]> {
  for (const number of upTo(30)) yield page(`/deep/${number}`, number < 30 ? [`/deep/${number + 1}`] : []);
}

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

function* files(): Generator<[string, Route]> {
  const lines = ["A report about crawls", "It can only be found by its link."].map((text, row) => ({
    text,
    x: 60,
    y: 760 - row * 30,
    size: 12,
  }));
  yield ["/files/report.pdf", send(writePdf([lines], "A report about crawls"), "application/pdf")];
  yield ["/files/picture.png", send(png, "image/png")];
}

function* errors(): Generator<[string, Route]> {
  yield ["/errors/gone", sendHtml("<title>Gone</title><p>It was here once.", 410)];
  yield ["/errors/500", sendHtml("<title>Broken</title><p>It will be repaired.", 500)];
  const { "/hostile/cut": cut } = hostileRoutes;
  if (cut !== undefined) yield ["/errors/cut", cut];
  yield ["/errors/slow", bySeconds("")];
  yield ["/errors/loop", redirect("/errors/loop")];
}

/** A text, then a byte a second. */
function bySeconds(first: string): Route {
  return (visit) => sendDrips(first)({ ...visit, url: new URL("?ms=1000", visit.url) });
}

function* redirects(partner: string): Generator<[string, Route]> {
  yield ["/index.html", redirect("/", 301)];
  yield ["/moved/docs", redirect("/docs/", 301)];
  for (const number of upTo(4))
    yield [
      `/moved/chain${number === 1 ? "" : number}`,
      redirect(number === 4 ? "/docs/chapter-1/" : `/moved/chain${number + 1}`),
    ];
  yield ["/moved/partner", redirect(`${partner}/partner-2`)];
}

/** Endless sections. Their pages name their own path, so that they can be counted. */
function trapAt(pathname: string, options: CrawlSiteOptions): Route | undefined {
  const shape = { ...options, partner: "" };
  const [, year, month] = /^\/calendar\/(\d+)\/(\d+)$/.exec(pathname) ?? [];
  if (year !== undefined && month !== undefined) {
    const at = Number(year) * 12 + Number(month) - 1;
    const nameOf = (index: number): string => `/calendar/${Math.floor(index / 12)}/${(index % 12) + 1}`;
    return pageRoute(pathname, [nameOf(at + 1), nameOf(at - 1), `${pathname}?view=list`], shape);
  }
  const [, session] = /^\/s\/([0-9a-f]{8})\/(?:catalog|help|cart)$/.exec(pathname) ?? [];
  if (session !== undefined) return sessionPage(pathname, session, shape);
  if (/^\/again\/(?:more\/)*$/.test(pathname)) return pageRoute(pathname, ["more/", "/"], shape);
  return undefined;
}

/** Each visit gets a session of its own in all links. */
function sessionPage(pathname: string, session: string, shape: Shape): Route {
  const next = ((Number.parseInt(session, 16) * 1_103_515_245 + 12_345) >>> 0).toString(16).padStart(8, "0");
  return pageRoute(
    pathname,
    ["catalog", "help", "cart"].map((name) => `/s/${next}/${name}`),
    shape,
  );
}

function findPartnerPage(pathname: string): Route | undefined {
  const paths = upTo(5).map((number) => `/partner-${number}`);
  if (pathname !== "/" && !paths.includes(pathname)) return undefined;
  return pageRoute(pathname, paths, { partner: "" });
}

const words =
  "the a river garden station night train winter early water light wind field bridge village old new small and of in on with".split(
    " ",
  );

/** Words that depend on the page only. */
function prose(id: string, bytes: number): string {
  let state = Bun.hash.crc32(id) >>> 0;
  const sentences: string[] = [];
  for (let length = 0; length < bytes;) {
    const sentence = Array.from({ length: 14 }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return words[state % words.length] ?? "";
    }).join(" ");
    sentences.push(`${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`);
    length += sentence.length + 2;
  }
  return sentences
    .map((_, index) => (index % 5 === 0 ? `<p>${sentences.slice(index, index + 5).join(" ")}</p>` : ""))
    .join("\n");
}

function pageRoute(
  id: string,
  links: readonly Link[],
  { pageBytes = 1_200, canonical }: Shape & { canonical?: string },
): Route {
  let html: string | undefined;
  return (visit) => {
    html ??= [
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Page ${id}</title><meta name="page-id" content="${id.replaceAll("&", "&amp;")}">`,
      canonical === undefined ? "" : `<link rel="canonical" href="${canonical}">`,
      `</head><body><main><article><h1>Page ${id}</h1>\n${prose(id, pageBytes)}\n</article><ul>`,
      ...links.map(
        (link) =>
          `<li><a href="${link.replaceAll("&", "&amp;")}">${link === "" ? "empty" : link.replaceAll("&", "&amp;")}</a></li>`,
      ),
      "</ul></main></body></html>\n",
    ].join("\n");
    return sendHtml(html)(visit);
  };
}

function robots({ robots: kind = "usual", crawlDelay }: Shape): Route {
  const rules = (origin: string): string =>
    [
      "User-agent: SomeOtherBot\nDisallow: /\n",
      `User-agent: *\nDisallow: ${kind === "forbids-all" ? "/" : "/private/"}`,
      ...(kind === "forbids-all" ? [] : ["Allow: /private/open"]),
      ...(crawlDelay === undefined ? [] : [`Crawl-delay: ${crawlDelay}`]),
      `\nSitemap: ${origin}/sitemap.xml\n`,
    ].join("\n");
  return (visit) => {
    if (kind === "missing") return send("not here", "text/plain", 404)(visit);
    if (kind === "failing") return send("broken", "text/plain", 500)(visit);
    if (kind === "huge")
      return sendPieces({ "content-type": "text/plain" }, () => hugeRobots(rules(visit.origin)))(visit);
    if (kind === "drip") return bySeconds("")(visit);
    return send(rules(visit.origin), "text/plain")(visit);
  };
}

function* hugeRobots(rules: string): Generator<string> {
  yield rules;
  const line = `# ${"padding ".repeat(100)}\nDisallow: /nothing/here\n`.repeat(64);
  for (let sent = 0; sent < 100_000_000; sent += line.length) yield line;
}

function* sitemaps({ sitemap = "usual" }: Shape): Generator<[string, Route]> {
  if (sitemap === "missing") return;
  const xml = { "content-type": "application/xml" };
  const make =
    (write: (origin: string) => string): Route =>
    (visit: Visit) =>
      send(write(visit.origin), xml)(visit);
  if (sitemap === "million") {
    yield ["/sitemap.xml", (visit) => sendPieces(xml, () => hugeSitemap(visit.origin, 1_000_000))(visit)];
    return;
  }
  const space = `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`;
  if (sitemap === "drip") {
    const first = (origin: string): string => `<urlset ${space}><url><loc>${origin}/docs/chapter-6/page-15</loc></url>`;
    yield ["/sitemap.xml", (visit) => bySeconds(first(visit.origin))(visit)];
    return;
  }
  const maps = sitemap === "loop" ? ["/sitemap.xml"] : ["/sitemap-docs.xml", "/sitemap-orphans.xml"];
  yield [
    "/sitemap.xml",
    make(
      (origin) =>
        `<sitemapindex ${space}>${maps.map((path) => `<sitemap><loc>${origin}${path}</loc></sitemap>`).join("")}</sitemapindex>`,
    ),
  ];
  const mapOf = (paths: readonly string[]): Route =>
    make(
      (origin) => `<urlset ${space}>${paths.map((path) => `<url><loc>${origin}${path}</loc></url>`).join("")}</urlset>`,
    );
  yield ["/sitemap-docs.xml", mapOf(["/docs/", "/docs/chapter-1/", "/docs/chapter-1/page-1", "/private/1"])];
  yield ["/sitemap-orphans.xml", mapOf(upTo(10).map((number) => `/orphans/${number}`))];
}
