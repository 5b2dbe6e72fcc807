/** Crawls and batches for callers: start, look up, watch, cancel. Looking up is free. */
import type { Principal } from "../../auth/index.ts";
import {
  type AcceptedSocket,
  creditsNumber,
  GatewayError,
  isTimedUuid,
  type JsonObject,
  timedUuid,
} from "../../core/index.ts";
import type { WorkOrder } from "../../charges/index.ts";
import type { Webhooks } from "../../webhooks/index.ts";
import { creditsUsed } from "../credits-used.ts";
import { parseRequest } from "../parse-request.ts";
import { withScheme } from "../scrape/scrape-request.ts";
import type { CrawlDependencies } from "./crawl-dependencies.ts";
import {
  batchRequest,
  type CrawlPlan,
  crawlRequest,
  discoveryOf,
  optionsOf,
  pagesByDefault,
  webhookOf,
} from "./crawl-request.ts";
import { CrawlRunner } from "./crawl-runner.ts";
import { hashOf, namedAddress, pageAddress } from "./page-address.ts";
import { decompressText } from "../compress.ts";
import { CrawlScope } from "./scope.ts";
import { startCrawl } from "./start-crawl.ts";
import type { Crawl, CrawlKind, NewPage } from "./store.ts";
import { watchCrawl } from "./watch-crawl.ts";

/** When a crawl is deleted at the latest. A day before, one that still runs is ended. */
const CRAWL_MS_MAX = 3 * 24 * 3_600_000;

/** Pages of a crawl that run at the same time by default. */
const CONCURRENCY = 20;

/** Results in one answer, their bytes as they are stored, and their characters: a page of one letter is stored as almost nothing. */
const RESULTS_MAX = 1_000;
const RESULT_BYTES_MAX = 2 * 1024 * 1024;
const RESULT_CHARACTERS_MAX = 16 * 1024 * 1024;

/** Entries of one answer about errors. */
const FAILURES_MAX = 10_000;

export interface CrawlsOptions extends CrawlDependencies {
  webhooks: Pick<Webhooks, "check">;
  /** The gateway's own address. */
  publicUrl: string;
}

/** One request that starts a crawl or a batch. */
export interface CrawlCall {
  requestId: string;
  principal: Principal;
  body: JsonObject;
  /** Of a request with a retry key. */
  retry: WorkOrder["retry"];
}

/** A crawl of the caller's own. */
export interface CrawlLookup {
  principal: Principal;
  kind: CrawlKind;
  id: string;
}

/** Where a page of results begins, and how many it has at most. */
export interface ResultPage {
  skip: number;
  limit: number | undefined;
}

export class Crawls {
  readonly #options: CrawlsOptions;
  readonly #runner: CrawlRunner;

  /** Runs the due pages of all crawls from now on. */
  constructor(options: CrawlsOptions) {
    this.#options = options;
    this.#runner = new CrawlRunner(options);
  }

  /** `POST /v2/crawl` */
  async start(call: CrawlCall): Promise<Response> {
    const { body } = call;
    const request = parseRequest(crawlRequest, body);
    const start = namedAddress(withScheme(request.url));
    if (start === undefined) throw invalid("url", "no address of a page");
    const scrape = request.scrapeOptions ?? {};
    this.#checkScrape(scrape, start.href, "scrapeOptions.");
    const discovery = discoveryOf(request);
    const scope = await CrawlScope.of(start.href, discovery);
    const plan: CrawlPlan = {
      url: start.href,
      scrape,
      webhook: webhookOf(request.webhook),
      origin: originOf(body),
      discovery,
    };
    const sitemaps = discovery.sitemap === "skip" ? [] : [scope.sitemapsAt(start)];
    // Read as it was named, and the same page as links to it.
    const first = { ...scope.pageAt(pageAddress(start.href) ?? start, 0), url: start.href };
    const delayMs = Math.ceil((request.delay ?? 0) * 1_000);
    return this.#start(call, plan, {
      kind: "crawl",
      pagesMax: request.limit ?? pagesByDefault,
      concurrencyMax: delayMs > 0 ? 1 : (request.maxConcurrency ?? CONCURRENCY),
      delayMs,
      pages: [first, ...sitemaps],
    });
  }

  /** `POST /v2/batch/scrape` */
  async startBatch(call: CrawlCall): Promise<Response> {
    const { body } = call;
    const request = parseRequest(batchRequest, body);
    const {
      urls,
      ignoreInvalidURLs,
      maxConcurrency,
      webhook,
      origin: _o,
      integration: _i,
      fastMode: _f,
      ...scrape
    } = request;
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
    const { appendToId: _a, zeroDataRetention: _z, ...options } = scrape;
    this.#checkScrape(options, first.url, "");
    const plan: CrawlPlan = {
      url: first.url,
      scrape: options,
      webhook: webhookOf(webhook),
      origin: originOf(body),
      discovery: undefined,
    };
    return this.#start(call, plan, {
      kind: "batch",
      pagesMax: pages.size,
      concurrencyMax: maxConcurrency ?? CONCURRENCY,
      delayMs: 0,
      pages: [...pages.values()],
      more: { invalidURLs },
    });
  }

  /** Throws 422 for options that the engine does not support. */
  #checkScrape(options: JsonObject, url: string, prefix: string): void {
    try {
      this.#options.engine.planScrape({ ...options, url });
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || thrown.param === undefined || prefix === "") throw thrown;
      throw new GatewayError(thrown.code, `${prefix}${thrown.message}`, { param: `${prefix}${thrown.param}` });
    }
  }

  async #start({ requestId, principal, retry }: CrawlCall, plan: CrawlPlan, creation: Creation): Promise<Response> {
    const { environment, webhooks, publicUrl } = this.#options;
    const { pages, more, ...rest } = creation;
    const { webhook } = plan;
    if (webhook !== undefined) await webhooks.check({ owner: principal.user, url: webhook.url, param: "webhook" });
    const createdAt = environment.clock();
    const id = timedUuid(environment.clock, environment.randomBytes);
    const stored = { owner: principal.user, caller: { ...principal }, request: { ...plan } };
    const crawl = { id, ...rest, ...stored, createdAt, expiresAt: createdAt + CRAWL_MS_MAX };
    const answer = { success: true, id, url: `${publicUrl}${pathOf(rest.kind)}/${id}`, ...more };
    const deps = { ...this.#options, wake: () => this.#runner.wake() };
    return startCrawl(deps, { requestId, principal, retry, crawl, plan, pages, answer });
  }

  /** `GET /v2/crawl/{id}` as JSON text. Throws 404 if the caller has no such crawl. */
  async status(lookup: CrawlLookup, { skip, limit }: ResultPage): Promise<string> {
    const { publicUrl } = this.#options;
    const crawl = await this.#own(lookup);
    const documents = await this.#documents(crawl.id, skip, limit);
    const nextSkip = skip + documents.length;
    const suffix = limit === undefined ? "" : `&limit=${limit}`;
    const hasMore = documents.length > 0 && nextSkip < crawl.completed;
    const next = hasMore ? `${publicUrl}${pathOf(crawl.kind)}/${crawl.id}?skip=${nextSkip}${suffix}` : null;
    const facts = JSON.stringify({ ...summaryOf(crawl), next });
    // The documents are JSON already.
    return `${facts.slice(0, -1)},"data":[${documents.join(",")}]}`;
  }

  /** The WebSocket of a crawl's watcher. Rejects with 404 if the caller has no such crawl. */
  watch(lookup: CrawlLookup): Promise<AcceptedSocket> {
    return watchCrawl({
      ticker: this.#options.ticker,
      summary: async () => summaryOf(await this.#own(lookup)),
      documents: (from) => this.#documents(lookup.id, from, undefined),
    });
  }

  /** Results from a position on, as JSON texts: one at least, if there is one, and as many as one answer may have. */
  async #documents(id: string, from: number, limit: number | undefined): Promise<string[]> {
    const range = { from, countMax: Math.min(limit ?? RESULTS_MAX, RESULTS_MAX), bytesMax: RESULT_BYTES_MAX };
    const documents: string[] = [];
    let characters = 0;
    for (const { content } of await this.#options.crawls.results(id, range)) {
      const document = await decompressText(content);
      characters += document.length;
      if (documents.length > 0 && characters > RESULT_CHARACTERS_MAX) break;
      documents.push(document);
    }
    return documents;
  }

  /** `DELETE /v2/crawl/{id}`. Pages that are under way are ended, and cost nothing unless they have been read. */
  async cancel(lookup: CrawlLookup): Promise<JsonObject> {
    const crawl = await this.#own(lookup);
    const isNow = await this.#options.messages.finish(crawl.id, { state: "cancelled" });
    if (isNow) this.#runner.abort(crawl.id, new Error("the crawl was cancelled"));
    const { state } = isNow ? { state: "cancelled" } : await this.#own(lookup);
    return { success: true, status: state };
  }

  /** `GET /v2/crawl/{id}/errors` */
  async errors(lookup: CrawlLookup): Promise<JsonObject> {
    const { crawls } = this.#options;
    const { id, failure, endedAt } = await this.#own(lookup);
    const [failures, notes] = [await crawls.failures(id, FAILURES_MAX), await crawls.notes(id)];
    const errors = [
      ...(failure === undefined ? [] : [{ id, timestamp: isoOf(endedAt ?? 0), url: "", ...errorOf(failure) }]),
      ...failures
        .filter(({ isBlocked }) => !isBlocked)
        .map((each) => ({ id: `${id}-${each.number}`, timestamp: isoOf(each.at), url: each.url, ...errorOf(each) })),
      ...notes.map((each) => ({
        id: `${id}-${each.code}`,
        timestamp: isoOf(each.at),
        url: each.url,
        ...errorOf(each),
        count: each.count,
      })),
    ];
    return { errors, robotsBlocked: failures.filter(({ isBlocked }) => isBlocked).map(({ url }) => url) };
  }

  /** `GET /v2/crawl/active` */
  async active({ user }: Principal): Promise<JsonObject> {
    const running = await this.#options.crawls.active(user);
    const crawls = running
      .filter(({ kind }) => kind === "crawl")
      .map((crawl) => {
        const { id, createdAt, request, state: status } = crawl;
        const plan = request as unknown as CrawlPlan;
        return {
          id,
          teamId: user,
          url: plan.url,
          status,
          created_at: isoOf(createdAt),
          options: optionsOf(plan, crawl),
        };
      });
    return { success: true, crawls };
  }

  /** `GET /v2/concurrency-check`: the pages of the caller's crawls that are under way, and how many may be. */
  async concurrency({ user }: Principal): Promise<JsonObject> {
    const { crawls, bounds } = this.#options;
    const running = await crawls.active(user);
    let concurrency = 0;
    for (const { id } of running) concurrency += await crawls.leased(id);
    return { success: true, concurrency, maxConcurrency: bounds.pagesAtOnceMax };
  }

  /** Throws 404 for a crawl that is unknown, another user's, or of the other kind. */
  async #own({ principal, kind, id }: CrawlLookup): Promise<Crawl> {
    const { crawls, environment } = this.#options;
    const crawl = isTimedUuid(id) ? await crawls.find(id) : undefined;
    if (crawl?.owner === principal.user && crawl.kind === kind && crawl.expiresAt > environment.clock()) return crawl;
    throw new GatewayError(
      "crawl_not_found",
      "Job not found: there is no such job of yours, or its results have expired.",
    );
  }

  /** Deletes what has expired. */
  async deleteExpired(): Promise<void> {
    const { crawls, environment } = this.#options;
    for (let chunks = 0; chunks < DELETED_CHUNKS_MAX; chunks += 1) {
      if (!(await crawls.deleteExpired(environment.clock()))) return;
    }
  }

  /** Gives the pages that this process runs back to the others. */
  stop(): Promise<void> {
    return this.#runner.stop(STOP_MS_MAX);
  }
}

/** How much is deleted at a time, in chunks of the store. */
const DELETED_CHUNKS_MAX = 20;

/** How long pages may take to react to a stop. */
const STOP_MS_MAX = 2_000;

interface Creation {
  kind: CrawlKind;
  pagesMax: number;
  concurrencyMax: number;
  delayMs: number;
  pages: readonly NewPage[];
  /** Further members of the answer. */
  more?: JsonObject;
}

function summaryOf(crawl: Crawl): JsonObject {
  const { state, completed, failed, skipped, discovered, pagesMax, credits, failure, createdAt, endedAt } = crawl;
  const open = discovered - failed - skipped;
  const total = state === "scraping" ? failed + Math.min(open, pagesMax) : completed + failed;
  return {
    success: true,
    status: state,
    total,
    completed,
    ...creditsUsed(crawl.request, creditsNumber(credits)),
    expiresAt: isoOf(crawl.expiresAt),
    createdAt: isoOf(createdAt),
    ...(endedAt !== undefined && { completedAt: isoOf(endedAt) }),
    ...(failure !== undefined && { error: failure.message }),
  };
}

function originOf({ origin }: JsonObject): string | undefined {
  return typeof origin === "string" ? origin : undefined;
}

function errorOf({ code, message }: { code: string; message: string }): { code: string; error: string } {
  return { code, error: message };
}

function pathOf(kind: CrawlKind): string {
  return kind === "crawl" ? "/v2/crawl" : "/v2/batch/scrape";
}

function isoOf(at: number): string {
  return new Date(at).toISOString();
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError("validation_failed", `${param}: ${message}`, { param });
}
