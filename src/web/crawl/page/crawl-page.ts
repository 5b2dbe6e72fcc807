/**
 * One page of a crawl:
 *
 *   robots.txt ──▶ hold ──▶ scrape ──▶ its links into the frontier ──▶ result stored ──▶ charged ──▶ visible
 *
 * A process may die between any two of these: see `CrawlStore`. The page's work has the crawl's id as its parent.
 */
import { charged, failedEnd, type Work } from "../../../charges/index.ts";
import { type ErrorCode, firecrawlCode, objectOf, toGatewayError } from "../../../core/index.ts";
import { retryAfterMs } from "../../../outbound/index.ts";
import { EngineRefusal, type MappedSite, type PageRead, type ScrapedPage } from "../../engine.ts";
import { ChargedFailure } from "../../failures.ts";
import { robotsProblems } from "../../robots/index.ts";
import { isBusyStatus, rateLimited, restHost } from "./busy-host.ts";
import { compareAddresses } from "../compare-addresses.ts";
import type { CrawlDependencies } from "../crawl-dependencies.ts";
import { withoutHeaders } from "../crawl-request.ts";
import { crawlSitemaps, follow, note } from "../discover.ts";
import { fromCache } from "../crawl-warning.ts";
import { answerExtraction } from "../extract/answer-extraction.ts";
import { readSite } from "../extract/read-site.ts";
import { holdPage, outOfCredits, type PageRun, REFUSED_WAIT_MS } from "./hold-page.ts";
import { moveTo } from "../open-crawl.ts";
import { pageAddress } from "../page-address.ts";
import { pageOptions } from "./page-options.ts";
import { digestOf, encodeDocument } from "../results.ts";
import { charge, end, storedWork, storePage } from "./store-page.ts";
import { CrawlScope } from "../scope.ts";
import type { CrawlFailure, PageEnd } from "../store.ts";

/** The gateway has no room for the page, for anybody or for its user. */
const busyCodes: ReadonlySet<ErrorCode> = new Set(["web_busy", "rate_limit_exceeded"]);

/** Addresses of a crawl up to which the sitemaps of a start that has moved are added: only a repeated start finds more. */
const START_PAGES_MAX = 1_000;

/** Throws only if the storage fails, or for a reason of the signal; the page's lease then runs out. */
export async function crawlPage(deps: CrawlDependencies, run: PageRun): Promise<void> {
  run.crawl.running += 1;
  try {
    await perform(deps, run);
  } finally {
    run.crawl.running -= 1;
  }
}

async function perform(deps: CrawlDependencies, run: PageRun): Promise<void> {
  const { page, crawl } = run;
  if (page.kind === "answer") return answerExtraction(deps, run);
  if (page.work !== undefined) return charge(deps, run, storedWork(page.work));
  if (page.kind === "sitemap") return crawlSitemaps(deps, run);
  // Found before the start had moved to another site.
  const isOutside = page.number !== 0 && crawl.scope?.isWithin(new URL(page.url)) === false;
  if (isOutside) return end(deps, run, { state: "skipped" });
  const refused = await robotsRefusal(deps, run);
  if (refused !== undefined) return "askAt" in refused ? later(deps, run, refused) : end(deps, run, refused);
  const work = await holdPage(deps, run);
  if (work === undefined) return;
  crawl.refusals = 0;
  crawl.holding += 1;
  try {
    if (page.kind === "site") await expand(deps, run, work);
    else await scrape(deps, run, work);
  } finally {
    crawl.holding -= 1;
  }
}

/** Obeys robots.txt, and stores the pause that it demands. A batch names its pages, as a single scrape does. */
async function robotsRefusal(deps: CrawlDependencies, run: PageRun): Promise<PageEnd | { askAt: number } | undefined> {
  const { page, crawl } = run;
  const { discovery } = crawl.plan;
  if (discovery === undefined) return undefined;
  const rules = await deps.robots.of(page.url);
  const busy = rules.retryAfterMs === undefined ? undefined : await restHost(deps, run, rules.retryAfterMs);
  if (typeof busy === "object") return busy;
  const problem = rules.problem(discovery.robotsUserAgent);
  if (problem !== undefined && !crawl.known.has(`${problem} ${page.host}`)) {
    crawl.known.add(`${problem} ${page.host}`);
    await note(deps, crawl, {
      code: problem,
      message: robotsProblems[problem],
      url: new URL("/robots.txt", page.url).href,
    });
  }
  const pauseMs = rules.delayMs(discovery.robotsUserAgent);
  if (pauseMs > 0) await deps.crawls.pace(page.host, pauseMs, deps.environment.clock());
  if (rules.isAllowed(page.url, discovery.robotsUserAgent)) return undefined;
  return { state: "blocked", failure: { code: "ROBOTS_BLOCKED", message: "robots.txt forbids this address." } };
}

/** Adds the pages of a site that is to be read for an extraction. */
async function expand(deps: CrawlDependencies, run: PageRun, work: Work): Promise<void> {
  let found: MappedSite;
  try {
    found = await readSite(deps, run, work);
  } catch (thrown) {
    return failed(deps, run, { work, thrown });
  }
  const content = await encodeDocument(run.crawl.plan, { links: found.links.length });
  const { usage, spent } = found;
  const stored = await storePage(deps, run, { work, content, digest: undefined, usage, spent });
  if (typeof stored === "object") return charge(deps, run, stored);
  await work.discard();
}

async function later({ crawls }: CrawlDependencies, { page }: PageRun, { askAt }: { askAt: number }): Promise<void> {
  await crawls.giveBack(page, askAt);
}

async function scrape(deps: CrawlDependencies, run: PageRun, work: Work): Promise<void> {
  const { page, crawl, signal } = run;
  let scraped: ScrapedPage;
  try {
    const plan = deps.engine.planScrape({
      ...pageOptions(crawl, { url: page.url, maxAgeMs: deps.bounds.maxAgeMs }),
      url: page.url,
    });
    scraped = await plan.run({
      workId: work.order.id,
      names: work.order,
      principal: crawl.principal,
      signal,
      cover: (usage) => work.cover(usage),
      isWanted: (read) => isKept(deps, run, read),
    });
  } catch (thrown) {
    return failed(deps, run, { work, thrown });
  }
  if (isServerFailure(scraped)) return unanswered(deps, run, { work, scraped });
  try {
    await keep(deps, run, { work, scraped });
  } catch (reason) {
    // Nothing of it was stored, or its lease shows the next process the state.
    await work.discard();
    throw reason;
  }
}

/** A busy host rests, and its page is asked for again unless that is too late or too often. */
async function unanswered(deps: CrawlDependencies, run: PageRun, { work, scraped }: Scraped): Promise<void> {
  const { statusCode } = scraped;
  const now = deps.environment.clock();
  const askedMs = retryAfterMs(scraped.retryAfter, now);
  const host = finalAddress(scraped)?.host;
  const busy = isBusyStatus(statusCode) ? await restHost(deps, run, askedMs, host) : undefined;
  if (typeof busy === "object") {
    await work.discard();
    return later(deps, run, busy);
  }
  await work.end({ status: 502, outcome: "failed" });
  const answered = { code: "SCRAPE_SITE_ERROR", message: `The server answered ${statusCode}.` };
  const failure = busy === "too_long" ? rateLimited : answered;
  // Its other pages are asked for as seldom as it may be waited for.
  const { retryAfterMsMax, politeness } = deps.bounds;
  if (busy === "too_long") await deps.crawls.rest(host ?? run.page.host, now + retryAfterMsMax, politeness);
  return end(deps, run, { state: "failed", failure });
}

async function failed(
  deps: CrawlDependencies,
  run: PageRun,
  { work, thrown }: { work: Work; thrown: unknown },
): Promise<void> {
  const { page, signal } = run;
  if (signal.aborted) {
    await work.discard();
    await deps.crawls.giveBack(page, deps.environment.clock());
    return;
  }
  if (thrown instanceof EngineRefusal) {
    const { status } = thrown;
    await work.end({ status, outcome: "failed" });
    const failure = { code: "SCRAPE_ALL_ENGINES_FAILED", message: `The engine answered ${status}.` };
    return end(deps, run, { state: "failed", failure });
  }
  const error = toGatewayError(thrown);
  if (error.code === "insufficient_credits" || busyCodes.has(error.code)) {
    await work.discard();
    if (error.code === "insufficient_credits") return outOfCredits(deps, run, { error, held: 1 });
    await deps.crawls.giveBack(page, deps.environment.clock() + REFUSED_WAIT_MS);
    return;
  }
  const observed = error instanceof ChargedFailure ? { usage: error.usage } : undefined;
  const credits = await charged(work, { ...failedEnd(error), observed });
  const failure = { code: firecrawlCode(error.code), message: error.message };
  await end(deps, run, { state: "failed", failure, credits });
}

/** The page has not been answered: another moment may have another answer. */
function isServerFailure({ statusCode }: PageRead): boolean {
  return statusCode >= 500 || isBusyStatus(statusCode);
}

/** Whether the page will be a result, as far as is known before it is stored. */
async function isKept(deps: CrawlDependencies, run: PageRun, scraped: PageRead): Promise<boolean> {
  if (isServerFailure(scraped) || !(await isResult(deps, run))) return false;
  return (await admit(deps, run, scraped)).exclusion === undefined;
}

/** The start may be read for its links only; every other page was found because the patterns want it. */
async function isResult(deps: CrawlDependencies, run: PageRun): Promise<boolean> {
  const { page } = run;
  return page.number !== 0 || (await isWanted(deps, run, new URL(page.url)));
}

async function isWanted(deps: CrawlDependencies, run: PageRun, url: URL): Promise<boolean> {
  const compared = await compareAddresses(deps, run, [url]);
  return compared.isWanted(url);
}

interface Scraped {
  work: Work;
  scraped: ScrapedPage;
}

async function keep(deps: CrawlDependencies, run: PageRun, { work, scraped }: Scraped): Promise<void> {
  const { page, crawl } = run;
  const { digest, exclusion } = await admit(deps, run, scraped);
  if (exclusion !== undefined) {
    await work.discard();
    await note(deps, crawl, { ...exclusion, url: page.url });
    return end(deps, run, { state: "skipped", credits: scraped.spent });
  }
  const isKeptItself = await isResult(deps, run);
  await moveWithStart(deps, run, scraped);
  if (scraped.statusCode < 400 && crawl.plan.discovery?.sitemap !== "only") {
    const found = scraped.links.map((url) => ({ url, depth: page.depth + 1 }));
    await follow(deps, run, { found, from: page.url });
  }
  if (!isKeptItself) {
    await work.discard();
    return end(deps, run, { state: "skipped", credits: scraped.spent });
  }
  const content = await encodeDocument(crawl.plan, scraped.document);
  const { usage, spent } = scraped;
  const outcome = await storePage(deps, run, { work, content, digest, usage, spent });
  if (typeof outcome === "string") {
    await work.discard();
    if (outcome === "duplicate") await note(deps, crawl, { ...duplicate, url: page.url });
    // Of a page whose lease is lost this changes nothing.
    return end(deps, run, { state: "skipped", credits: spent });
  }
  if (isFromCache(scraped)) await note(deps, crawl, { ...fromCache, url: page.url });
  await charge(deps, run, outcome);
  await scraped.delivered?.();
}

const duplicate: CrawlFailure = {
  code: "DUPLICATE_CONTENT",
  message: "Pages with the text of another page, or that redirect to one, are left out, and their links not followed.",
};

const redirectedAway: CrawlFailure = {
  code: "REDIRECTED_AWAY",
  message: "Pages that redirect to an address outside of the crawl are left out.",
};

const robotsForbid: CrawlFailure = {
  code: "REDIRECTED_TO_FORBIDDEN",
  message: "Pages that redirect to an address which robots.txt forbids are left out.",
};

function isFromCache({ document }: PageRead): boolean {
  return objectOf(document["metadata"])?.["cacheState"] === "hit";
}

/** The address that the page was read at, after redirects. */
function finalAddress({ document }: PageRead): URL | undefined {
  const address = objectOf(document["metadata"])?.["url"];
  return typeof address === "string" ? pageAddress(address) : undefined;
}

/**
 * A start that redirects to another site moves the crawl there. Decided by the page's own address, so that a process which
 * repeats a page completes what another one has begun.
 */
async function moveWithStart(deps: CrawlDependencies, { page, crawl }: PageRun, scraped: ScrapedPage): Promise<void> {
  const { plan } = crawl;
  const final = finalAddress(scraped);
  if (page.number !== 0 || plan.discovery === undefined || final === undefined) return;
  const first = new CrawlScope(page.url, plan.discovery);
  if (first.isOwnHost(final)) return;
  const moved = { ...plan, url: final.href, scrape: withoutHeaders(plan.scrape) };
  await deps.crawls.rewrite(crawl.id, moved);
  moveTo(crawl, moved);
  if (plan.discovery.sitemap === "skip") return;
  await deps.crawls.add(crawl.id, [first.sitemapsAt(final)], deps.environment.clock(), START_PAGES_MAX);
}

interface Admission {
  /** Undefined if the page may repeat another one. */
  digest: string | undefined;
  /** Why the page is not part of the crawl; undefined if it is. */
  exclusion: CrawlFailure | undefined;
}

/** Compares a page that was read with its crawl's scope, with the rules of the host that it was read at, and with other pages. */
async function admit(deps: CrawlDependencies, run: PageRun, scraped: PageRead): Promise<Admission> {
  const { page, crawl } = run;
  const { scope, plan } = crawl;
  const final = finalAddress(scraped);
  const digest = digestOf(crawl, scraped, final);
  const isMoved = scope !== undefined && page.depth > 0 && final !== undefined && final.href !== page.url;
  if (isMoved && !(scope.isWithin(final) && (await isWanted(deps, run, final)))) {
    return { digest, exclusion: redirectedAway };
  }
  if (plan.discovery !== undefined && final !== undefined && final.href !== page.url) {
    const rules = await deps.robots.of(final.href);
    if (!rules.isAllowed(final.href, plan.discovery.robotsUserAgent)) return { digest, exclusion: robotsForbid };
  }
  const isRepeated = digest !== undefined && (await deps.crawls.repeats(page, digest));
  return { digest, exclusion: isRepeated ? duplicate : undefined };
}
