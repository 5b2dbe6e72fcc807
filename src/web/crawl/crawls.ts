/** Crawls and batches for callers: start, look up, watch, cancel. Looking up is free. */
import type { Principal } from "../../auth/index.ts";
import type { PaidAnswer, PaidRequest } from "../../charges/index.ts";
import { type AcceptedSocket, creditsNumber, GatewayError, isTimedUuid, type JsonObject } from "../../core/index.ts";
import { decompressText } from "../compress.ts";
import { creditsUsed } from "../credits-used.ts";
import type { CrawlsOptions } from "./crawl-dependencies.ts";
import { optionsOf, planOf } from "./crawl-request.ts";
import { CrawlRunner } from "./crawl-runner.ts";
import { crawlWarning, isWarning } from "./crawl-warning.ts";
import { CrawlStart, crawlUrl, type JobForm } from "./start-crawl.ts";
import type { Crawl, CrawlKind, CrawlPage, ListedCrawl } from "./store.ts";
import { type ApiVersion, errorsForV1, statusForV1, storedDocumentForV1 } from "../v1/index.ts";
import { extractionStatus } from "./extract/extraction-status.ts";
import { watchCrawl } from "./watch-crawl.ts";

/** Results in one answer, their bytes as they are stored, and their characters: a page of one letter is stored as almost nothing. */
const RESULTS_MAX = 1_000;
const RESULT_BYTES_MAX = 2 * 1024 * 1024;
const RESULT_CHARACTERS_MAX = 16 * 1024 * 1024;

/** Entries of one answer about errors. */
const FAILURES_MAX = 10_000;

/** A crawl of the caller's own. */
export interface CrawlLookup {
  principal: Principal;
  /** A crawl or a batch if undefined. */
  kind: CrawlKind | undefined;
  id: string;
  version: ApiVersion;
}

/** The beginning of a page of results, and its greatest length. */
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

  /** Those of all users, for their operator. */
  list(page: CrawlPage): Promise<ListedCrawl[]> {
    return this.#options.crawls.list(page);
  }

  /** `POST /v2/crawl` and `POST /v2/batch/scrape`, or those of v1 */
  start(form: JobForm, request: PaidRequest): Promise<PaidAnswer> {
    const options = { ...this.#options, wake: () => this.#runner.wake() };
    return this.#options.shell.run(request, new CrawlStart(options, request, form));
  }

  /** `GET /v2/crawl/{id}` as JSON text. Throws 404 if the caller has no such crawl. */
  async status(lookup: CrawlLookup, { skip, limit }: ResultPage): Promise<string> {
    const { version } = lookup;
    const crawl = await this.#own(lookup);
    const documents = await this.#documents(crawl, version, { from: skip, limit });
    const nextSkip = skip + documents.length;
    const suffix = limit === undefined ? "" : `&limit=${limit}`;
    // Of v1 it is there while a job runs, too.
    const isOpen = version === "v1" && crawl.state === "scraping";
    const hasMore = isOpen || (documents.length > 0 && nextSkip < crawl.completed);
    const next = hasMore ? `${crawlUrl(this.#options, crawl, version)}?skip=${nextSkip}${suffix}` : null;
    const facts = JSON.stringify(await this.#summary(crawl, version, next));
    // The documents are JSON already.
    return `${facts.slice(0, -1)},"data":[${documents.join(",")}]}`;
  }

  /** `GET /v2/extract/{id}`. Throws 404 if the caller has no such extraction. */
  async extraction(lookup: CrawlLookup): Promise<JsonObject> {
    return extractionStatus(this.#options, await this.#own(lookup));
  }

  /** The WebSocket of a crawl's watcher. Rejects with 404 if the caller has no such crawl. */
  async watch(lookup: CrawlLookup): Promise<AcceptedSocket> {
    const { version } = lookup;
    const crawl = await this.#own(lookup);
    return watchCrawl({
      ticker: this.#options.ticker,
      summary: async () => this.#summary(await this.#own(lookup), version),
      documents: (from) => this.#documents(crawl, version, { from, limit: undefined }),
    });
  }

  async #summary(crawl: Crawl, version: ApiVersion, next?: string | null): Promise<JsonObject> {
    const warning = crawlWarning(await this.#options.crawls.notes(crawl.id));
    const more = { ...(warning !== undefined && { warning }), ...(next !== undefined && { next }) };
    const summary = { ...summaryOf(crawl), ...more };
    if (version === "v2") return summary;
    return statusForV1(summary, planOf(crawl).origin, creditsNumber(crawl.credits));
  }

  /** Results from a position on, as JSON texts: one at least, if there is one, and as many as one answer may have. */
  async #documents(
    crawl: Crawl,
    version: ApiVersion,
    { from, limit }: { from: number; limit: number | undefined },
  ): Promise<string[]> {
    const asksExtract = version === "v1" && planOf(crawl).namesExtract === true;
    const range = { from, countMax: Math.min(limit ?? RESULTS_MAX, RESULTS_MAX), bytesMax: RESULT_BYTES_MAX };
    const documents: string[] = [];
    let characters = 0;
    for (const { content } of await this.#options.crawls.results(crawl.id, range)) {
      const document = await decompressText(content);
      characters += document.length;
      if (documents.length > 0 && characters > RESULT_CHARACTERS_MAX) break;
      documents.push(storedDocumentForV1(document, asksExtract));
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
      ...notes
        .filter((each) => !isWarning(each))
        .map((each) => ({
          id: `${id}-${each.code}`,
          timestamp: isoOf(each.at),
          url: each.url,
          ...errorOf(each),
          count: each.count,
        })),
    ];
    const found = { errors, robotsBlocked: failures.filter(({ isBlocked }) => isBlocked).map(({ url }) => url) };
    return lookup.version === "v1" ? errorsForV1(found) : found;
  }

  /** `GET /v2/crawl/active` */
  async active({ user }: Principal): Promise<JsonObject> {
    const running = await this.#options.crawls.active(user);
    const crawls = running
      .filter(({ kind }) => kind === "crawl")
      .map((crawl) => {
        const { id, createdAt, state: status } = crawl;
        const plan = planOf(crawl);
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

  /** `GET /v2/team/queue-status`: pages of the caller's jobs that wait or are under way, and when the last job was complete. */
  async queue({ user }: Principal): Promise<JsonObject> {
    const { crawls, bounds } = this.#options;
    let [jobsInQueue, activeJobsInQueue] = [0, 0];
    for (const { id, discovered, completed, failed, skipped } of await crawls.active(user)) {
      jobsInQueue += Math.max(discovered - completed - failed - skipped, 0);
      activeJobsInQueue += await crawls.leased(id);
    }
    const waitingJobsInQueue = Math.max(jobsInQueue - activeJobsInQueue, 0);
    const at = await crawls.lastCompleted(user);
    const mostRecentSuccess = at === undefined ? null : isoOf(at);
    const maxConcurrency = bounds.pagesAtOnceMax;
    return { success: true, jobsInQueue, activeJobsInQueue, waitingJobsInQueue, maxConcurrency, mostRecentSuccess };
  }

  /** Throws 404 for a crawl that is unknown, another user's, or of the other kind. */
  async #own({ principal, kind, id }: CrawlLookup): Promise<Crawl> {
    const { crawls, environment } = this.#options;
    const crawl = isTimedUuid(id) ? await crawls.find(id) : undefined;
    const isOfKind = kind === undefined ? crawl?.kind !== "extract" : crawl?.kind === kind;
    if (crawl?.owner === principal.user && isOfKind && crawl.expiresAt > environment.clock()) return crawl;
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

  /** Pages that are read here at the moment. */
  get reading(): number {
    return this.#runner.active;
  }

  /** Takes up no more pages: those of another configuration's parts do. */
  retire(): void {
    this.#runner.close();
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

function errorOf({ code, message }: { code: string; message: string }): { code: string; error: string } {
  return { code, error: message };
}

function isoOf(at: number): string {
  return new Date(at).toISOString();
}
