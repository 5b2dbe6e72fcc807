/** Runs the due pages of all crawls, up to a number at the same time in each process. */
import { CallAborter, type CallSignal } from "../../core/index.ts";
import { leaseToken } from "../../jobs/index.ts";
import type { Watched } from "../../streaming/index.ts";
import type { CrawlDependencies } from "./crawl-dependencies.ts";
import { endOfPages } from "./extract/extraction-pages.ts";
import { crawlPage } from "./page/crawl-page.ts";
import { OpenCrawls } from "./open-crawl.ts";
import type { LeasedPage } from "./store.ts";

/** The interval at which each process looks for due pages and for crawls that have ended. */
const POLL_MS = 250;
const FINISH_MS = 1_000;

/** The delay until the pages of a dead process are taken over, and the interval at which a living one prolongs them. */
const LEASE_MS = 30_000;
const RENEW_MS = 5_000;

/** Of the pages that other users leave, those that one user's crawls may have. */
const OWNER_SHARE = 3 / 4;

/** The wait after a failure of the storage. */
const FAILED_MS = 1_000;

/** A crawl that still runs this long before its record would be deleted has failed. */
const OVERDUE_MS = 24 * 3_600_000;

/** A crawl without a page that is older was created by a process that died then. */
const UNFILLED_MS = 60_000;

interface Run {
  page: LeasedPage;
  abort: CallAborter;
}

export class CrawlRunner implements Watched {
  slot = -1;
  readonly #deps: CrawlDependencies;
  readonly #open: OpenCrawls;
  readonly #token: string;
  readonly #runs = new Set<Run>();
  #isTaking = false;
  #renewing = false;
  #finishing = false;
  #mayBeDue = true;
  #closed = false;
  #polledAt = -Infinity;
  #renewedAt: number;
  #finishedAt = -Infinity;
  #notBefore = -Infinity;

  /** Starts at once. */
  constructor(deps: CrawlDependencies) {
    this.#deps = deps;
    this.#open = new OpenCrawls(deps.crawls);
    this.#token = leaseToken(deps.environment.randomBytes);
    this.#renewedAt = deps.ticker.now();
    deps.ticker.watch(this);
  }

  /** Pages that have not ended. */
  get active(): number {
    return this.#runs.size;
  }

  /** Looks for due pages now: for a process that has just added some. */
  wake(): void {
    this.#mayBeDue = true;
    this.#take();
  }

  /** Ends the pages of a crawl that this process runs. */
  abort(crawlId: string, reason: Error): void {
    for (const { page, abort } of this.#runs) if (page.crawlId === crawlId) abort.abort(reason);
    this.#open.forget(crawlId);
  }

  onTick(now: number): void {
    if (now - this.#renewedAt >= RENEW_MS && this.#runs.size > 0 && !this.#renewing) {
      this.#renewedAt = now;
      void this.#renew();
    }
    if (this.#closed) return;
    if (now - this.#polledAt >= POLL_MS) {
      this.#polledAt = now;
      this.wake();
    }
    if (now - this.#finishedAt >= FINISH_MS && !this.#finishing) {
      this.#finishedAt = now;
      void this.#finishExhausted();
    }
  }

  /** Takes no more pages. Those that run go on, and keep their leases. */
  close(): void {
    this.#closed = true;
  }

  /** Takes no more pages, and gives those that run back, for other processes. */
  async stop(waitMs: number): Promise<void> {
    this.close();
    for (const { abort } of this.#runs) abort.abort(new Error("the server stops"));
    const until = this.#deps.ticker.now() + waitMs;
    while (this.#runs.size > 0 && this.#deps.ticker.now() < until) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#deps.ticker.after(20, resolve);
      await promise;
    }
    this.#deps.ticker.leave(this);
  }

  #take(): void {
    if (!this.#isTaking) void this.#takeAll();
  }

  async #takeAll(): Promise<void> {
    const { crawls, bounds, environment, ticker } = this.#deps;
    this.#isTaking = true;
    while (this.#mayBeDue && !this.#closed && ticker.now() >= this.#notBefore) {
      const room = bounds.pagesAtOnceMax - this.#runs.size;
      if (room <= 0) break;
      this.#mayBeDue = false;
      const at = environment.clock();
      const lease = { token: this.#token, until: at + LEASE_MS };
      try {
        const { politeness } = bounds;
        const pages = await crawls.take({ lease, at, pagesMax: room, ownerShare: OWNER_SHARE, politeness });
        for (const page of pages) void this.#run(page);
      } catch (reason) {
        this.#failed(reason, undefined);
      }
    }
    this.#isTaking = false;
  }

  async #run(page: LeasedPage): Promise<void> {
    const run = { page, abort: new CallAborter() };
    this.#runs.add(run);
    try {
      await this.#perform(page, run.abort.signal);
    } catch (reason) {
      // Its lease runs out: another run goes on from this one's last page.
      if (!run.abort.aborted) this.#failed(reason, page);
    } finally {
      this.#runs.delete(run);
    }
    if (!this.#closed) this.wake();
    if (this.#runs.size === 0) void this.#finishExhausted();
  }

  async #perform(page: LeasedPage, signal: CallSignal): Promise<void> {
    const crawl = await this.#open.get(page);
    if (crawl !== undefined) await crawlPage(this.#deps, { page, crawl, signal });
  }

  /** Prolongs the leases, and ends the pages of crawls that were cancelled on another node. */
  async #renew(): Promise<void> {
    this.#renewing = true;
    const before = [...this.#runs];
    try {
      const running = new Set(await this.#deps.crawls.renew(this.#token, this.#deps.environment.clock() + LEASE_MS));
      for (const { page, abort } of before) {
        if (!running.has(page.crawlId)) abort.abort(new Error("the crawl has ended"));
      }
    } catch (reason) {
      this.#failed(reason, undefined);
    } finally {
      this.#renewing = false;
    }
  }

  async #finishExhausted(): Promise<void> {
    if (this.#finishing) return;
    this.#finishing = true;
    const { crawls, messages, environment, bounds } = this.#deps;
    try {
      for (const crawl of await crawls.exhausted(environment.clock() - UNFILLED_MS)) {
        const end = await endOfPages(this.#deps, crawl);
        if (end === undefined) this.wake();
        else {
          await messages.finish(crawl.id, end);
          this.#open.forget(crawl.id);
        }
      }
      const large = await crawls.oversized(bounds.bytesPerUserMax);
      for (const { id } of large)
        await this.#fail(id, "RESULTS_TOO_LARGE", "The results of your crawls take too much room.");
      const late = await crawls.overdue(environment.clock() + OVERDUE_MS);
      for (const { id } of late) await this.#fail(id, "CRAWL_TIMEOUT", "The crawl did not end in time.");
    } catch (reason) {
      this.#failed(reason, undefined);
    } finally {
      this.#finishing = false;
    }
  }

  async #fail(id: string, code: string, message: string): Promise<void> {
    await this.#deps.messages.finish(id, { state: "failed", failure: { code, message } });
    this.abort(id, new Error(message));
  }

  #failed(reason: unknown, page: LeasedPage | undefined): void {
    this.#notBefore = this.#deps.ticker.now() + FAILED_MS;
    const of = page === undefined ? {} : { crawl: page.crawlId, page: page.number };
    this.#deps.logger.error({ ...of, reason: String(reason) }, "crawling failed, will go on");
  }
}
