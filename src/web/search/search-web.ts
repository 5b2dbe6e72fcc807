/** A search: results of the back end, filtered, and with scrapeOptions the content of each, read side by side within a time. */
import {
  addUsage,
  type CallSignal,
  type Clock,
  GatewayError,
  type JsonObject,
  type Nano,
  toGatewayError,
  type Usage,
} from "../../core/index.ts";
import type { ScrapedPage, WebEngine, WebPlan, WorkContext } from "../engine.ts";
import { parseRequest } from "../parse-request.ts";
import type { SearchBackend, SearchSource } from "./backend.ts";
import { categoryOf, type SearchCategory } from "./categories.ts";
import { categoriesOf, findResults, sourcesOf } from "./find-results.ts";
import type { SearchHit } from "./query.ts";
import { LIMIT, searchRequest, type SearchBody, TIMEOUT_MS } from "./search-request.ts";
import { within } from "../within.ts";

/** Results that one price is for. */
const RESULTS_PER_SEARCH = 10;

/** Pages of one search that are read at the same time. */
const AT_ONCE = 10;

/** Characters of the pages of one answer, but for its first page; the gateway has all of them in memory. */
const PAGES_CHARACTERS_MAX = 32 * 1024 * 1024;

/** The part of the time that is kept for the answer when pages are read. */
const RESERVE_MS = 500;

export interface SearchDependencies {
  backend: SearchBackend;
  engine: WebEngine;
  clock: Clock;
}

export interface SearchResult {
  /** The results of each source that was asked for. */
  data: Partial<Record<SearchSource, readonly JsonObject[]>>;
  warning: string | undefined;
  usage: Usage;
  spent: Nano;
  delivered: () => Promise<void>;
}

/** Checks a body of `POST /v2/search`; throws 422 with the member that is at fault. */
export function planSearch(deps: SearchDependencies, body: JsonObject): WebPlan<SearchResult> {
  const request = parseRequest(searchRequest, body);
  const limit = request.limit ?? LIMIT;
  const options = request.scrapeOptions ?? undefined;
  if (options !== undefined) checkOptions(deps.engine, options);
  const sources = sourcesOf(request);
  const bound = {
    searches: Math.ceil((limit * sources.length) / RESULTS_PER_SEARCH),
    ...(options !== undefined && sources.includes("web") && { pages: limit }),
  };
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
  const until = performance.now() + (request.timeout ?? TIMEOUT_MS);
  const found = await findResults(deps, { request, limit, until }, context);
  const { web = [], news, images } = found.hits;
  const options = request.scrapeOptions ?? undefined;
  const pages =
    options === undefined
      ? web.map((hit): ScrapedHit => ({ hit }))
      : await scrapeAll(deps.engine, { hits: web, options, until, bound }, context);
  const count = web.length + (news?.length ?? 0) + (images?.length ?? 0);
  const usage = pages.reduce<Usage>((sum, { page }) => (page === undefined ? sum : addUsage(sum, page.usage)), {
    searches: Math.ceil(count / RESULTS_PER_SEARCH),
  });
  const isRead = options !== undefined;
  const categories = categoriesOf(request);
  return {
    data: {
      ...(found.hits.web !== undefined && {
        web: pages.map((page) => ({
          ...(isRead ? resultOf(page) : plainResult(page.hit)),
          ...categorised(categories, page.hit),
        })),
      }),
      ...(news !== undefined && { news: news.map(newsResult) }),
      ...(images !== undefined && { images: images.map(imageResult) }),
    },
    warning: joined([
      ...(count > 0 ? [] : [emptyWarning(found.isFiltered, deps.backend.emptyHint)]),
      ...found.warnings,
      ...(isRead ? pageWarnings(pages) : []),
    ]),
    usage,
    spent: pages.reduce((sum, { page }) => sum + (page?.spent ?? 0n), 0n),
    delivered: async () => {
      for (const { page } of pages) await page?.delivered?.();
    },
  };
}

function emptyWarning(isFiltered: boolean, hint = ""): string {
  const why = isFiltered ? "No result of the search engine passes the filters" : "Nothing was found";
  return `${why}. Try fewer words or filters. ${hint}`.trim();
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

function plainResult({ url, title, description }: SearchHit): JsonObject {
  return { url, title, description };
}

function resultOf({ hit, page, error }: ScrapedHit): JsonObject {
  if (page !== undefined) return { ...plainResult(hit), ...page.document };
  return { ...plainResult(hit), metadata: { sourceURL: hit.url, url: hit.url, error } };
}

function categorised(categories: readonly SearchCategory[], hit: SearchHit): JsonObject {
  const category = categoryOf(categories, hit);
  return category === undefined ? {} : { category };
}

function newsResult({ url, title, description, datedAt, image }: SearchHit, index: number): JsonObject {
  return {
    url,
    title,
    snippet: description,
    ...(datedAt !== undefined && { date: new Date(datedAt).toISOString() }),
    ...(image !== undefined && { imageUrl: image.url }),
    position: index + 1,
  };
}

function imageResult({ url, title, image }: SearchHit, index: number): JsonObject {
  return {
    url,
    title,
    ...(image !== undefined && { imageUrl: image.url }),
    ...(image?.width !== undefined && { imageWidth: image.width }),
    ...(image?.height !== undefined && { imageHeight: image.height }),
    position: index + 1,
  };
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
