/** Crawls of sites whose robots.txt or sitemaps have no end, or answer a byte a second: each is bounded, and says so. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { post, type Rig, startRig, until } from "../kit/index.ts";
import { type CrawlSite, type CrawlSiteOptions, startCrawlSite } from "./site/crawl-site.ts";

const endMsMax = 60_000;

let rig: Rig;
let token: string;
const sites: CrawlSite[] = [];
beforeAll(async () => {
  const crawl = { pages_per_second: 0, connections_per_host: 16 };
  rig = await startRig({ config: { web: { allow_private_hosts: ["127.0.0.1:*"], crawl } } });
  ({ token } = await rig.caller());
});
afterAll(async () => {
  await rig.stop();
  for (const site of sites) await site.stop();
});

async function ask<Body>(path: string): Promise<Body> {
  const answer = await fetch(rig.gateway.url + path, { headers: { authorization: `Bearer ${token}` } });
  return (await answer.json()) as Body;
}

interface Begun {
  site: CrawlSite;
  id: string;
}

/** Begins a crawl of such a site. */
async function begun(options: CrawlSiteOptions, body: object): Promise<Begun> {
  const site = await startCrawlSite(options);
  sites.push(site);
  return { site, id: await startCrawl({ url: `${site.url}/docs/`, ...body }) };
}

async function startCrawl(body: object): Promise<string> {
  const started = await post(rig, "/v2/crawl", token, body);
  return ((await started.json()) as { id: string }).id;
}

interface Job {
  status: string;
  completed: number;
}

/** Resolves when a crawl is so far. */
function untilJob(id: string, what: string, isSo: (job: Job) => boolean): Promise<Job> {
  const look = async (): Promise<Job | false> => {
    const job = await ask<Job>(`/v2/crawl/${id}`);
    return isSo(job) && job;
  };
  return until(what, look, endMsMax);
}

interface Ended {
  completed: number;
  codes: string[];
  robotsBlocked: string[];
}

/** Awaits the end of a crawl. */
async function ended(id: string): Promise<Ended> {
  const { status, completed } = await untilJob(id, "the crawl has ended", (job) => job.status !== "scraping");
  expect(status).toBe("completed");
  type Errors = { errors: { code: string }[]; robotsBlocked: string[] };
  const { errors, robotsBlocked } = await ask<Errors>(`/v2/crawl/${id}/errors`);
  return { completed, codes: errors.map(({ code }) => code), robotsBlocked };
}

/** Crawls such a site to its end. */
async function crawled(options: CrawlSiteOptions, body: object): Promise<Begun & Ended> {
  const crawl = await begun(options, body);
  return { ...crawl, ...(await ended(crawl.id)) };
}

describe.concurrent("a crawl of a site with", () => {
  test(
    "a robots.txt of 100 MB obeys its beginning",
    async () => {
      const body = { limit: 30, crawlEntireDomain: true, sitemap: "skip" };
      const { site, completed, codes, robotsBlocked } = await crawled({ robots: "huge" }, body);
      expect(completed).toBe(30);
      expect(codes).toContain("ROBOTS_TRUNCATED");
      expect(site.visits("/private/1")).toEqual([]);
      expect(robotsBlocked.every((url) => new URL(url).pathname.startsWith("/private/"))).toBe(true);
    },
    endMsMax,
  );

  test(
    "a robots.txt that comes a byte a second is left alone",
    async () => {
      const { site, completed, codes, robotsBlocked } = await crawled(
        { robots: "drip" },
        { limit: 5, sitemap: "skip" },
      );
      expect(completed).toBe(0);
      expect(codes).toContain("ROBOTS_UNAVAILABLE");
      expect(robotsBlocked).toEqual([`${site.url}/docs/`]);
      expect(site.visits("/docs/")).toEqual([]);
    },
    endMsMax,
  );

  test(
    "a sitemap of a million addresses reads a part of it",
    async () => {
      const { completed, codes } = await crawled(
        { sitemap: "million" },
        { limit: 3, sitemap: "only", crawlEntireDomain: true },
      );
      expect(completed).toBe(3);
      expect(codes).toContain("SITEMAP_TRUNCATED");
      expect(codes).toContain("TOO_MANY_ADDRESSES");
    },
    endMsMax,
  );

  test(
    "a sitemap that comes a byte a second ends, and its other pages come meanwhile",
    async () => {
      const { site, id } = await begun({ sitemap: "drip" }, { maxDiscoveryDepth: 1 });
      // The start and its six links.
      await untilJob(id, "the linked pages are there", ({ completed }) => completed === 7);
      expect(site.visits("/sitemap.xml").map(({ endedMs }) => endedMs)).toEqual([undefined]);
      const { completed, codes } = await ended(id);
      // The page that the sitemap lists, and the one that this links to.
      expect([completed, codes]).toEqual([9, ["SITEMAP_TIMEOUT"]]);
      expect(site.visits("/docs/chapter-6/page-15")).toHaveLength(1);
    },
    endMsMax,
  );

  test(
    "a sitemap that lists itself ends",
    async () => {
      const { completed } = await crawled({ sitemap: "loop" }, { limit: 3 });
      expect(completed).toBe(3);
    },
    endMsMax,
  );

  test(
    "a crawl delay has one page at a time, that long apart",
    async () => {
      const { site, completed } = await crawled({ crawlDelay: 1 }, { limit: 4, sitemap: "skip" });
      expect(completed).toBe(4);
      expect(site.mostAtOnce(({ path }) => path !== "/robots.txt")).toBe(1);
      const arrivals = site.requests.filter(({ path }) => path !== "/robots.txt").map(({ startedMs }) => startedMs);
      // The first page shows the delay, and the others were asked for after it had arrived. From its arrival on, so that a
      // request which is long on its way can make the time longer, never shorter.
      expect((arrivals[3] ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(1_990);
    },
    endMsMax,
  );
});

test(
  "patterns and links that take long to compare are bounded together, and other calls answered meanwhile",
  async () => {
    const links = Array.from({ length: 1_000 }, (_, index) => `<a href="/docs/${"x".repeat(1_900)}${index}">x</a>`);
    const site = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: ({ url }) =>
        new URL(url).pathname === "/docs/"
          ? new Response(`<title>Links</title>${links.join("")}`, { headers: { "content-type": "text/html" } })
          : new Response("", { status: 404 }),
    });
    try {
      const slow = `${"x?".repeat(240)}[yz]$`;
      const body = { url: `http://127.0.0.1:${site.port}/docs/`, includePaths: ["^/docs/$", slow, slow, slow] };
      const { completed, codes } = await ended(await startCrawl(body));
      expect([completed, codes]).toEqual([1, ["PATTERNS_TOO_SLOW"]]);
    } finally {
      await site.stop(true);
    }
  },
  endMsMax,
);

test(
  "large pages that are stored as almost nothing are answered in parts",
  async () => {
    const filler = `<!-- ${"a".repeat(6_000_000)} -->`;
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: ({ url }) => new Response(`<title>${url}</title>${filler}`, { headers: { "content-type": "text/html" } }),
    });
    try {
      const urls = [1, 2, 3, 4].map((number) => `http://127.0.0.1:${server.port}/${number}`);
      const started = await post(rig, "/v2/batch/scrape", token, { urls, formats: ["rawHtml"], storeInCache: false });
      const { id } = (await started.json()) as { id: string };
      type Part = Job & { next: string | null; data: { rawHtml: string }[] };
      const partOf = (address: string): Promise<Part> => ask(address.replace(rig.gateway.url, ""));
      const path = `/v2/batch/scrape/${id}`;
      await until("it has ended", async () => (await partOf(`${path}?skip=9`)).status === "completed", endMsMax);
      const first = await partOf(path);
      const second = await partOf(first.next ?? "");
      expect([first.data.length, second.data.length, second.next]).toEqual([2, 2, null]);
    } finally {
      await server.stop(true);
    }
  },
  endMsMax,
);
