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
const CONCURRENCY = 20;

export interface PlannedCrawl extends Pick<NewCrawl, "kind" | "pagesMax" | "concurrencyMax" | "delayMs"> {
  plan: CrawlPlan;
  pages: readonly NewPage[];
  /** The batch that the pages are added to, and the bound that its request repeats. */
  append?: { id: string; concurrencyMax: number | undefined };
  /** Further members of the answer. */
  more?: JsonObject;
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
  const pages = new Map<string, NewPage>();
  const invalidURLs: string[] = [];
  for (const text of urls) {
    const url = namedAddress(withScheme(text));
    if (url === undefined) invalidURLs.push(text.slice(0, 2_048));
    else {
      // Each address has its own result, whatever other spellings there are.
      const key = hashOf(url.href);
      pages.set(key, { kind: "page", key, url: url.href, host: url.host, depth: 0 });
    }
  }
  if (invalidURLs.length > 0 && ignoreInvalidURLs === false) throw invalid("urls", "has addresses of no page");
  const [first] = pages.values();
  if (first === undefined) throw invalid("urls", "has no address of a page");
  return {
    kind: "batch",
    plan: { url: first.url, scrape, webhook: webhookOf(webhook), origin: originOf(body), discovery: undefined },
    pagesMax: pages.size,
    concurrencyMax: maxConcurrency ?? CONCURRENCY,
    delayMs: 0,
    pages: [...pages.values()],
    ...(appendToId != null && { append: { id: appendToId, concurrencyMax: maxConcurrency ?? undefined } }),
    more: { invalidURLs },
  };
}

function originOf({ origin }: JsonObject): string | undefined {
  return typeof origin === "string" ? origin : undefined;
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError("validation_failed", `${param}: ${message}`, { param });
}
