/** New addresses of a crawl: from the links of a page, or from the sitemaps of its hosts. */
import { type CallSignal, type Environment, toGatewayError, Slices } from "../../core/index.ts";
import { pageFailure } from "../failures.ts";
import { readSitemaps, sitemapProblems } from "../sitemaps/index.ts";
import { restHost } from "./page/busy-host.ts";
import type { CrawlDependencies } from "./crawl-dependencies.ts";
import { compareAddresses, type ComparisonDependencies } from "./compare-addresses.ts";
import type { CrawlMessages } from "./messages/crawl-messages.ts";
import { isUnknown, type OpenCrawl } from "./open-crawl.ts";
import { pageAddress } from "./page-address.ts";
import { type CrawlScope, type FoundAddress, type Trap, traps } from "./scope.ts";
import type { LeasedPage, NewPage } from "./store.ts";

/** Links of one page that are followed. */
const LINKS_MAX = 10_000;

/** Addresses in one commit: some milliseconds of work for the storage. */
const ADDED_AT_ONCE = 250;

/** Addresses that a crawl remembers, as a multiple of its limit, and their least and greatest number. */
const DISCOVERED_PER_PAGE = 10;
const DISCOVERED_MIN = 1_000;
const DISCOVERED_MAX = 1_000_000;

/** Pages whose comparison may take too long before the crawl ends. */
const SLOW_PAGES_MAX = 5;

/** How long the sitemaps of a host may take. */
const SITEMAPS_MS_MAX = 60_000;

/** The wait of sitemaps for which the page pool or the memory has no room. */
const BUSY_WAIT_MS = 2_000;

interface Dependencies extends ComparisonDependencies, Pick<CrawlDependencies, "crawls" | "robots" | "sitemaps"> {
  messages: Pick<CrawlMessages, "finish">;
  environment: Pick<Environment, "clock">;
  bounds: Pick<CrawlDependencies["bounds"], "retryAfterMsMax" | "politeness">;
}

const discoveredMax = (pagesMax: number): number =>
  Math.min(Math.max(pagesMax * DISCOVERED_PER_PAGE, DISCOVERED_MIN), DISCOVERED_MAX);

/** Adds the pages that these addresses lead to, as far as they belong to the crawl. */
export async function follow(
  deps: Dependencies,
  { crawl, signal }: { crawl: OpenCrawl; signal: CallSignal },
  { found, from }: { found: readonly FoundAddress[]; from: string },
): Promise<void> {
  const { scope } = crawl;
  if (scope === undefined) return;
  const left = new Map<Trap, string>();
  const pages: NewPage[] = [];
  const slices = new Slices();
  const followed = found.slice(0, LINKS_MAX);
  const urls = await possiblePages(scope, followed);
  const { isWanted, isWhole } = await compareAddresses(deps, { crawl, signal }, urls);
  if (!isWhole) await tooSlow(deps, crawl, from);
  for (const address of followed) {
    if (slices.isOver) await slices.next();
    const placed = scope.place(address, isWanted);
    if (placed === undefined) continue;
    if (typeof placed === "string") left.set(placed, address.url);
    else if (isUnknown(crawl, placed.key)) {
      const trap = scope.trapOf(placed);
      if (trap === undefined) pages.push(placed);
      else left.set(trap, placed.url);
    }
  }
  for (const [trap, url] of left) await note(deps, crawl, { code: trap, message: traps[trap], url });
  if (found.length > LINKS_MAX) {
    const message = `Only the first ${LINKS_MAX} links of a page are followed.`;
    await note(deps, crawl, { code: "TOO_MANY_LINKS", message, url: from });
  }
  await add(deps, crawl, pages);
}

/** The addresses that may be pages of the crawl, if the patterns want them. */
async function possiblePages(scope: CrawlScope, found: readonly FoundAddress[]): Promise<URL[]> {
  if (scope.patterns === undefined) return [];
  const urls: URL[] = [];
  const slices = new Slices();
  for (const { url: text } of found) {
    if (slices.isOver) await slices.next();
    const url = pageAddress(text);
    if (url !== undefined && scope.mayBePage(url)) urls.push(url);
  }
  return urls;
}

async function tooSlow(deps: Dependencies, crawl: OpenCrawl, url: string): Promise<void> {
  const code = "PATTERNS_TOO_SLOW";
  const message =
    "Comparing the links of a page with the crawl's patterns took too long: the rest of them is left out.";
  await note(deps, crawl, { code, message, url });
  crawl.slowPages += 1;
  if (crawl.slowPages < SLOW_PAGES_MAX) return;
  const failure = { code, message: "Comparing links with the crawl's patterns takes too long: use simpler ones." };
  await deps.messages.finish(crawl.id, { state: "failed", failure });
}

async function add(deps: Dependencies, crawl: OpenCrawl, pages: readonly NewPage[]): Promise<void> {
  const { crawls, environment } = deps;
  for (let from = 0; from < pages.length; from += ADDED_AT_ONCE) {
    const some = pages.slice(from, from + ADDED_AT_ONCE);
    const { isFull } = await crawls.add(crawl.id, some, environment.clock(), discoveredMax(crawl.pagesMax));
    if (!isFull) continue;
    const message = `A crawl of ${crawl.pagesMax} pages remembers at most ${discoveredMax(crawl.pagesMax)} addresses.`;
    await note(deps, crawl, { code: "TOO_MANY_ADDRESSES", message, url: some.at(-1)?.url ?? "" });
    return;
  }
}

/** Attempts to read sitemaps while the gateway is too busy, in one process: a minute of them. */
const SITEMAP_TRIES_MAX = 30;

interface SitemapRun {
  /** The frontier's page for the sitemaps of a host. */
  page: LeasedPage;
  crawl: OpenCrawl;
  signal: CallSignal;
}

/** Reads the sitemaps of a host; later, if the gateway is too busy or stops. */
export async function crawlSitemaps(deps: Dependencies, run: SitemapRun): Promise<void> {
  const { crawls, environment } = deps;
  try {
    const busy = await followSitemaps(deps, run);
    if (busy !== undefined) {
      await crawls.giveBack(run.page, busy.askAt);
      return;
    }
  } catch (thrown) {
    const waitMs = run.signal.aborted ? 0 : BUSY_WAIT_MS;
    if (waitMs > 0 && !isBusy(toGatewayError(pageFailure(thrown)).status)) throw thrown;
    run.crawl.sitemapTries += Number(waitMs > 0);
    if (run.crawl.sitemapTries < SITEMAP_TRIES_MAX) {
      await crawls.giveBack(run.page, environment.clock() + waitMs);
      return;
    }
    await note(deps, run.crawl, {
      code: "SITEMAP_TIMEOUT",
      message: sitemapProblems.SITEMAP_TIMEOUT,
      url: run.page.url,
    });
  }
  await crawls.end(run.page, { state: "skipped" }, environment.clock());
}

/** The gateway has no room, for anybody or for this user. */
const isBusy = (status: number): boolean => status === 503 || status === 429;

/** Adds the pages that the sitemaps of the host list; they count as found at the start. Resolves with when to ask a busy host again. */
async function followSitemaps(deps: Dependencies, run: SitemapRun): Promise<{ askAt: number } | undefined> {
  const { page, crawl, signal } = run;
  const { discovery } = crawl.plan;
  if (discovery === undefined) return undefined;
  const { scope } = crawl;
  const until = performance.now() + SITEMAPS_MS_MAX;
  const found: FoundAddress[] = [];
  const rules = await deps.robots.of(page.url);
  if (rules.retryAfterMs !== undefined) return askAgain(deps, run, rules.retryAfterMs);
  const { left, retryAfterMs } = await readSitemaps(deps.sitemaps, {
    owner: crawl.owner,
    siteUrl: page.url,
    listed: rules.sitemaps,
    // The host's other pages are read meanwhile.
    filesAtOnce: 1,
    signal,
    timeLeft: () => until - performance.now(),
    onPage({ url }) {
      // Patterns are compared later: their time is bounded for so many addresses at a time.
      if (scope?.mayHave(new URL(url)) === true) found.push({ url, depth: 0 });
      return true;
    },
  });
  const again = retryAfterMs === undefined ? undefined : await askAgain(deps, run, retryAfterMs);
  if (again === undefined)
    for (const [code, url] of left) await note(deps, crawl, { code, message: sitemapProblems[code], url });
  for (let from = 0; from < found.length; from += LINKS_MAX) {
    await follow(deps, { crawl, signal }, { found: found.slice(from, from + LINKS_MAX), from: page.url });
  }
  return again;
}

/** When a busy host is asked again; undefined if it was asked too often, or asks for too long a pause. */
async function askAgain(deps: Dependencies, run: SitemapRun, askedMs: number): Promise<{ askAt: number } | undefined> {
  const busy = await restHost(deps, run, askedMs);
  return typeof busy === "object" ? busy : undefined;
}

interface Left {
  code: string;
  message: string;
  url: string;
}

/** Records that something was left out. */
export function note({ crawls, environment }: Dependencies, crawl: OpenCrawl, left: Left): Promise<void> {
  return crawls.note(crawl.id, { ...left, at: environment.clock() });
}
