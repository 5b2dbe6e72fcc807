/** What the body of a crawl or a batch asks for. */
import { GatewayError, type JsonObject } from "../../core/index.ts";
import { parseRequest } from "../parse-request.ts";
import { withScheme } from "../scrape/scrape-request.ts";
import { checkPatterns } from "./check-patterns.ts";
import { batchRequest, type CrawlPlan, crawlRequest, discoveryOf, pagesByDefault, webhookOf } from "./crawl-request.ts";
import { hashOf, namedAddress, pageAddress } from "./page-address.ts";
import { CrawlScope } from "./scope.ts";
import type { NewCrawl, NewPage } from "./store.ts";

/** Pages of a crawl that run at the same time by default. */
export const CONCURRENCY = 20;

export interface PlannedCrawl extends Pick<NewCrawl, "kind" | "pagesMax" | "concurrencyMax" | "delayMs"> {
  plan: CrawlPlan;
  pages: readonly NewPage[];
  /** The batch that the pages are added to, and the bound that its request repeats. */
  append?: { id: string; concurrencyMax: number | undefined };
  /** Further members of the answer. */
  more?: JsonObject;
  /** A user's words that a model makes further options of, and the body without them. */
  prompted?: { prompt: string; body: JsonObject };
}

/** The body of `POST /v2/crawl`. Throws 422. */
export async function planCrawl(body: JsonObject): Promise<PlannedCrawl> {
  const request = parseRequest(crawlRequest, body);
  const start = namedAddress(withScheme(request.url));
  if (start === undefined) throw invalid("url", "no address of a page");
  const discovery = discoveryOf(request);
  await checkPatterns(discovery);
  const scope = new CrawlScope(start.href, discovery);
  const sitemaps = discovery.sitemap === "skip" ? [] : [scope.sitemapsAt(start)];
  // Read as it was named, and the same page as links to it.
  const first = { ...scope.pageAt(pageAddress(start.href) ?? start, 0), url: start.href };
  const delayMs = Math.ceil((request.delay ?? 0) * 1_000);
  return {
    kind: "crawl",
    plan: {
      url: start.href,
      scrape: request.scrapeOptions ?? {},
      webhook: webhookOf(request.webhook),
      origin: originOf(body),
      discovery,
    },
    pagesMax: request.limit ?? pagesByDefault,
    concurrencyMax: delayMs > 0 ? 1 : (request.maxConcurrency ?? CONCURRENCY),
    delayMs,
    pages: [first, ...sitemaps],
    ...(request.prompt != null && { prompted: { prompt: request.prompt, body: { ...body, prompt: null } } }),
  };
}

/** The body of `POST /v2/batch/scrape`. Throws 422. */
export function planBatch(body: JsonObject): PlannedCrawl {
  const {
    urls,
    ignoreInvalidURLs,
    maxConcurrency,
    webhook,
    origin: _o,
    integration: _i,
    fastMode: _f,
    appendToId,
    zeroDataRetention: _z,
    ...scrape
  } = parseRequest(batchRequest, body);
  const { pages, more } = listPages({ urls, ignoreInvalidURLs }, batchPage);
  return {
    kind: "batch",
    plan: { url: pages[0].url, scrape, webhook: webhookOf(webhook), origin: originOf(body), discovery: undefined },
    pagesMax: pages.length,
    concurrencyMax: maxConcurrency ?? CONCURRENCY,
    delayMs: 0,
    pages,
    ...(appendToId != null && { append: { id: appendToId, concurrencyMax: maxConcurrency ?? undefined } }),
    more,
  };
}

/** Each address has its own result, whatever other spellings there are. */
function batchPage(text: string): NewPage | undefined {
  const url = namedAddress(withScheme(text));
  return url && { kind: "page", key: hashOf(url.href), url: url.href, host: url.host, depth: 0 };
}

interface NamedPages {
  pages: [NewPage, ...NewPage[]];
  more: { invalidURLs: readonly string[] };
}

/** The pages that the addresses of a body name, each once. Throws 422 if there are none, or one that names no page may not be there. */
export function listPages(
  { urls, ignoreInvalidURLs }: { urls: readonly string[]; ignoreInvalidURLs?: boolean | null | undefined },
  namedPage: (text: string) => NewPage | undefined,
): NamedPages {
  const found = new Map<string, NewPage>();
  const invalidURLs: string[] = [];
  for (const text of urls) {
    const page = namedPage(text);
    if (page === undefined) invalidURLs.push(text.slice(0, 2_048));
    else found.set(page.key, page);
  }
  if (invalidURLs.length > 0 && ignoreInvalidURLs === false) throw invalid("urls", "has addresses of no page");
  const [first, ...others] = found.values();
  if (first === undefined) throw invalid("urls", "has no address of a page");
  return { pages: [first, ...others], more: { invalidURLs } };
}

export function originOf({ origin }: JsonObject): string | undefined {
  return typeof origin === "string" ? origin : undefined;
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError("validation_failed", `${param}: ${message}`, { param });
}
