/** A search: results of the back end, filtered, and with scrapeOptions the content of each, read side by side within a time. */
import {
  addUsage,
  type CallSignal,
  GatewayError,
  type JsonObject,
  type Nano,
  toGatewayError,
  type Usage,
} from "../../core/index.ts";
import type { ScrapedPage, WebEngine, WebPlan, WorkContext } from "../engine.ts";
import { parseRequest } from "../parse-request.ts";
import { requestTimeout } from "../request-timeout.ts";
import type { SearchBackend } from "./backend.ts";
import { isUndated, passes } from "./passes.ts";
import { parseQuery, type SearchHit, type SearchQuery, siteOf } from "./query.ts";
import { LIMIT, searchRequest, type SearchBody, TIMEOUT_MS } from "./search-request.ts";

/** Results that one price is for. */
const RESULTS_PER_SEARCH = 10;

/** Pages of one search that are read at the same time. */
const AT_ONCE = 10;

/** Results that are asked of a back end for each one that is wanted: some do not pass the filters. */
const CANDIDATES_PER_RESULT = 2;

/** Characters of the pages of one answer, but for its first page; the gateway has all of them in memory. */
const PAGES_CHARACTERS_MAX = 32 * 1024 * 1024;

/** The part of the time that is kept for the answer when pages are read. */
const RESERVE_MS = 500;

export interface SearchDependencies {
  backend: SearchBackend;
  engine: WebEngine;
}

export interface SearchResult {
  web: readonly JsonObject[];
  warning: string | undefined;
  usage: Usage;
  spent: Nano;
}

/** Checks a body of `POST /v2/search`; throws 422 with the member that is at fault. */
export function planSearch(deps: SearchDependencies, body: JsonObject): WebPlan<SearchResult> {
  const request = parseRequest(searchRequest, body);
  const limit = request.limit ?? LIMIT;
  const options = request.scrapeOptions ?? undefined;
  if (options !== undefined) checkOptions(deps.engine, options);
  const bound = { searches: Math.ceil(limit / RESULTS_PER_SEARCH), ...(options !== undefined && { pages: limit }) };
  return { bound, run: (context) => search(deps, { request, limit, bound }, context) };
}

function checkOptions(engine: WebEngine, options: JsonObject): void {
  try {
    engine.planScrape({ ...options, url: "https://example.com/" });
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.param === undefined) throw thrown;
    throw new GatewayError(thrown.code, `scrapeOptions.${thrown.message}`, { param: `scrapeOptions.${thrown.param}` });
  }
}

interface Search {
  request: SearchBody;
  limit: number;
  bound: Usage;
}

async function search(
  deps: SearchDependencies,
  { request, limit, bound }: Search,
  context: WorkContext,
): Promise<SearchResult> {
  const query = withDomains(parseQuery(request.query), request);
  const { signal, principal } = context;
  const until = performance.now() + (request.timeout ?? TIMEOUT_MS);
  const candidates = Math.min(limit * CANDIDATES_PER_RESULT, 100);
  const late = new GatewayError("upstream_timeout", "The search engine took too long.");
  const found = await within({ signal, ms: until - performance.now(), late }, (either) =>
    deps.backend.search({ query, limit: candidates, owner: principal.user, signal: either }),
  );
  const hits = found.filter((hit) => passes(query, hit)).slice(0, limit);
  const searches = Math.ceil(hits.length / RESULTS_PER_SEARCH);
  const options = request.scrapeOptions ?? undefined;
  const warnings = [
    ...(hits.length > 0 ? [] : [emptyWarning(found.length > 0, deps.backend.emptyHint)]),
    ...queryWarnings(query, hits),
  ];
  if (options === undefined)
    return { web: hits.map(plainResult), warning: joined(warnings), usage: { searches }, spent: 0n };
  const pages = await scrapeAll(deps.engine, { hits, options, until, bound }, context);
  const usage = pages.reduce<Usage>((sum, { page }) => (page === undefined ? sum : addUsage(sum, page.usage)), {
    searches,
  });
  return {
    web: pages.map(({ hit, page, error }) => resultOf(hit, page, error)),
    warning: joined([...warnings, ...pageWarnings(pages)]),
    usage,
    spent: pages.reduce((sum, { page }) => sum + (page?.spent ?? 0n), 0n),
  };
}

function emptyWarning(isFiltered: boolean, hint = ""): string {
  const why = isFiltered ? "No result of the search engine passes the filters" : "Nothing was found";
  return `${why}. Try fewer words or filters. ${hint}`.trim();
}

/** What of the query did not decide. */
function queryWarnings(query: SearchQuery, hits: readonly SearchHit[]): string[] {
  const undated = hits.filter((hit) => isUndated(query, hit)).length;
  return [
    ...(query.ignored.length > 0 ? [`Not supported in a query, and ignored: ${query.ignored.join(", ")}.`] : []),
    ...(undated > 0 ? [`The dates of ${undated} results are unknown: they may be of another time.`] : []),
  ];
}

function pageWarnings(pages: readonly ScrapedHit[]): string[] {
  const missing = pages.filter(({ page }) => page === undefined).length;
  const doubtful = pages.filter(({ page }) => page?.document["warning"] !== undefined).length;
  return [
    ...(missing > 0 ? [`${missing} of the results could not be read, or not in time.`] : []),
    ...(doubtful > 0 ? [`${doubtful} of the results may lack their text: see their own warning.`] : []),
  ];
}

function joined(warnings: readonly string[]): string | undefined {
  return warnings.length > 0 ? warnings.join(" ") : undefined;
}

function withDomains(query: SearchQuery, { includeDomains, excludeDomains }: SearchBody): SearchQuery {
  return {
    ...query,
    sites: [...query.sites, ...bareDomains(includeDomains)],
    excludedSites: [...query.excludedSites, ...bareDomains(excludeDomains)],
  };
}

function bareDomains(domains: readonly string[] | null | undefined): string[] {
  return (domains ?? []).map(siteOf);
}

function plainResult({ url, title, description }: SearchHit): JsonObject {
  return { url, title, description };
}

function resultOf(hit: SearchHit, page: ScrapedPage | undefined, error: string | undefined): JsonObject {
  if (page !== undefined) return { ...plainResult(hit), ...page.document };
  return { ...plainResult(hit), metadata: { sourceURL: hit.url, url: hit.url, error } };
}

interface Scraping {
  hits: readonly SearchHit[];
  options: JsonObject;
  /** By the performance clock. */
  until: number;
  bound: Usage;
}

interface ScrapedHit {
  hit: SearchHit;
  page?: ScrapedPage;
  error?: string;
}

/** Reads the pages side by side. Those that fail, or are not there in time, have an error instead and cost nothing. */
async function scrapeAll(
  engine: WebEngine,
  { hits, options, until, bound }: Scraping,
  context: WorkContext,
): Promise<ScrapedHit[]> {
  // What all pages together need beyond one page each.
  let beyond: Usage = {};
  const cover = (usage: Usage): Promise<void> => {
    const { pages: _, ...more } = usage;
    beyond = addUsage(beyond, more);
    return context.cover(addUsage(bound, beyond));
  };
  const waiting = [...hits.entries()];
  const results: ScrapedHit[] = [];
  let characters = 0;
  let isFull = false;
  const readSome = async (signal: CallSignal): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, hit] = next;
      const scraped = isFull ? { hit } : await scrapeOne(engine, { hit, options }, { ...context, signal, cover });
      const sum = characters + charactersOf(scraped);
      isFull ||= characters > 0 && sum > PAGES_CHARACTERS_MAX;
      if (!isFull) characters = sum;
      results[index] = isFull && scraped.error === undefined ? { hit, error: TOO_LARGE } : scraped;
    }
  };
  const late = new GatewayError("target_timeout", "The page took too long.");
  await within({ signal: context.signal, ms: until - performance.now() - RESERVE_MS, late }, (signal) =>
    Promise.all(Array.from({ length: AT_ONCE }, () => readSome(signal))),
  );
  return results;
}

interface Time {
  signal: CallSignal;
  ms: number;
  /** The reason of the abort when the time is over. */
  late: GatewayError;
}

/** Does the work under a signal that aborts when the time is over, too. Rejects with the reason of an abort of the given one. */
async function within<Result>(
  { signal, ms, late }: Time,
  work: (either: CallSignal) => Promise<Result>,
): Promise<Result> {
  const timeout = requestTimeout(signal, Math.max(ms, 1), late);
  try {
    const result = await work(timeout.signal);
    if (signal.aborted) throw signal.reason;
    return result;
  } finally {
    timeout.end();
  }
}

const TOO_LARGE = "The pages are too large together: scrape this one by itself.";

function charactersOf({ page }: ScrapedHit): number {
  const sizes = Object.values(page?.document ?? {}).map((member) =>
    typeof member === "string" ? member.length : (JSON.stringify(member) ?? "").length,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function scrapeOne(
  engine: WebEngine,
  { hit, options }: { hit: SearchHit; options: JsonObject },
  context: WorkContext,
): Promise<ScrapedHit> {
  try {
    if (context.signal.aborted) throw context.signal.reason;
    return { hit, page: await engine.planScrape({ ...options, url: hit.url }).run(context) };
  } catch (thrown) {
    const error = toGatewayError(thrown);
    if (error.code === "insufficient_credits") throw error;
    return { hit, error: error.code === "internal_error" ? "The page could not be read." : error.message };
  }
}
