import { afterAll, beforeAll, expect, test } from "bun:test";
import { parse } from "node:path/posix";
import * as expected from "./crawl-expected.ts";
import { type CrawlSite, startCrawlSite } from "./crawl-site.ts";

let site: CrawlSite;

beforeAll(async () => {
  site = await startCrawlSite();
});
afterAll(() => site.stop());

/** Pages that `crawl` leaves out. */
const notFollowed = new Set(["/private/open", "/files/report.pdf"]);

interface Read {
  readonly id: string;
  readonly status: number;
  readonly links: readonly string[];
}

async function read(address: string): Promise<Read> {
  const response = await fetch(address);
  const html = await response.text();
  const [, id = ""] = /<meta name="page-id" content="([^"]*)">/.exec(html) ?? [];
  const hrefs = [...html.matchAll(/href="([^"]*)"/g)].map(([, href = ""]) => href.replaceAll("&amp;", "&"));
  const links = hrefs.flatMap((href) => (URL.canParse(href, response.url) ? [new URL(href, response.url).href] : []));
  return { id: id.replaceAll("&amp;", "&"), status: response.status, links };
}

/** Follows all links of the site that lead into no trap, to no error and to nothing forbidden. */
async function crawl(start: readonly string[], depthMax = Infinity): Promise<Set<string>> {
  const ids = new Set<string>();
  const seen = new Set<string>();
  let frontier = start.map((path) => site.url + path);
  for (let depth = 0; frontier.length > 0 && depth <= depthMax; depth += 1) {
    const pages = await Promise.all(frontier.map(read));
    for (const { id } of pages) ids.add(id);
    frontier = [...new Set(pages.flatMap(({ links }) => links))]
      .map((link) => link.split("#")[0] ?? "")
      .filter((link) => link.startsWith(`${site.url}/`) && !seen.has(link) && isSafe(new URL(link).pathname));
    for (const link of frontier) seen.add(link);
  }
  return ids;
}

function isSafe(pathname: string): boolean {
  const { dir } = parse(`${pathname}x`);
  return !/^\/(errors|private|files|moved)/.test(dir) && !expected.traps.some((trap) => trap.test(pathname));
}

test("more than 300 pages, which links and sitemaps lead to", async () => {
  expect(expected.everything.length).toBeGreaterThan(300);
  expect(new Set(expected.everything).size).toBe(expected.everything.length);
  const found = await crawl(["/", ...expected.everything.filter((path) => path.startsWith("/orphans/"))]);
  expect([...found].toSorted()).toEqual(expected.everything.filter((path) => !notFollowed.has(path)).toSorted());
});

test("two links lead to the pages near the start", async () => {
  const near = expected.nearTheStart.filter((path) => !notFollowed.has(path));
  expect([...(await crawl(["/"], 2))].toSorted()).toEqual(near.toSorted());
});

test("every page of the list names itself, at each of its addresses", async () => {
  for (const path of [...expected.everything, ...expected.forbiddenByRobots].filter(
    (one) => !one.startsWith("/files/"),
  )) {
    expect(await read(site.url + path)).toMatchObject({ id: path, status: 200 });
  }
  for (const [other, id] of [
    ["/index.html", "/"],
    ["/docs", "/docs/"],
    ["/wiki/entry-1/", "/wiki/entry-1"],
    ["/wiki/view?lang=en&id=7", "/wiki/view?id=7&lang=en"],
    ["/wiki/%c3%a4pfel", "/wiki/%C3%A4pfel"],
    ["/moved/chain", "/docs/chapter-1/"],
  ] as const) {
    expect((await read(site.url + other)).id).toBe(id);
  }
  for (const path of expected.atThePartner) expect((await read(site.partner.url + path)).id).toBe(path);
});

test("the smaller lists are parts of the whole", () => {
  const all = new Set(expected.everything);
  const { linkedOnly, docsOnly, withoutBlogAndShop, nearTheStart } = expected;
  for (const path of [...linkedOnly, ...docsOnly, ...withoutBlogAndShop, ...nearTheStart]) expect(all).toContain(path);
  expect([linkedOnly.length, docsOnly.length]).toEqual([all.size - 10, 1 + 6 + 6 * 15]);
});

test("what fails, fails", async () => {
  for (const path of expected.missing) expect((await fetch(site.url + path)).status).toBeWithin(404, 411);
  const [broken, cut, , loop, picture] = expected.failing.map((path) => fetch(site.url + path));
  expect((await broken)?.status).toBe(500);
  expect(await cut?.then((response) => response.text()).catch(() => "cut")).not.toEndWith("</html>");
  expect(await loop?.catch(() => "loop")).toBe("loop");
  expect((await picture)?.headers.get("content-type")).toBe("image/png");
});

test("traps go on for ever", async () => {
  for (const start of ["/calendar/2026/5", "/s/0a1b2c3d/catalog", "/again/"]) {
    let { links } = await read(site.url + start);
    const seen = new Set([start]);
    for (let step = 0; step < 20; step += 1) {
      const next =
        links.find((link) => expected.traps.some((trap) => trap.test(new URL(link).pathname)) && !seen.has(link)) ?? "";
      seen.add(next);
      ({ links } = await read(next));
    }
    expect(seen.size).toBe(21);
  }
});

test("robots.txt and sitemaps in all their kinds", async () => {
  const textOf = async (other: CrawlSite, path: string): Promise<string> => (await fetch(other.url + path)).text();
  expect(await textOf(site, "/robots.txt")).toContain("Disallow: /private/\nAllow: /private/open\n");
  expect((await textOf(site, "/sitemap-orphans.xml")).match(/<loc>/g)).toHaveLength(10);
  const delayed = await startCrawlSite({ crawlDelay: 2, sitemap: "loop" });
  expect(await textOf(delayed, "/robots.txt")).toContain("Crawl-delay: 2");
  expect(await textOf(delayed, "/sitemap.xml")).toContain(`<loc>${delayed.url}/sitemap.xml</loc>`);
  await delayed.stop();
  const closed = await startCrawlSite({ robots: "forbids-all", sitemap: "missing", pageBytes: 20_000 });
  expect(await textOf(closed, "/robots.txt")).toContain("Disallow: /\n");
  expect((await fetch(`${closed.url}/sitemap.xml`)).status).toBe(404);
  expect((await textOf(closed, "/docs/")).length).toBeGreaterThan(20_000);
  await closed.stop();
});
