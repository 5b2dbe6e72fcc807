/** The ends of crawls, and the job that sends the messages of their webhooks. */
import type { Clock } from "../../../core/index.ts";
import type { NewJob } from "../../../jobs/index.ts";
import { type CrawlPlan, planOf } from "../crawl-request.ts";
import type { Crawl, CrawlFinish, CrawlStore } from "../store.ts";
import { CRAWL_WEBHOOK_JOB, firstProgress } from "./crawl-delivery.ts";

/** How long the results of an ended crawl are kept. */
const resultsTtlMs = 24 * 3_600_000;

export interface CrawlMessagesOptions {
  crawls: CrawlStore;
  /** Stores a job, which runs at once; one that is there stays as it is. */
  startJob: (job: NewJob) => Promise<void>;
  clock: Clock;
  /** Bytes of one user's stored results: the oldest ended crawls make room. */
  bytesPerUserMax: number;
}

export class CrawlMessages {
  readonly #options: CrawlMessagesOptions;

  constructor(options: CrawlMessagesOptions) {
    this.#options = options;
  }

  /** Sends the messages of a crawl from now on, in their order. May be repeated. */
  async started({ id, owner }: Pick<Crawl, "id" | "owner">, { webhook }: CrawlPlan): Promise<void> {
    if (webhook === undefined) return;
    const now = this.#options.clock();
    const job = { id: `${CRAWL_WEBHOOK_JOB}:${id}`, kind: CRAWL_WEBHOOK_JOB, owner };
    await this.#options.startJob({ ...job, payload: { id, ...firstProgress }, runAt: now, createdAt: now });
  }

  /** Ends a crawl that runs. */
  async finish(id: string, finish: Pick<CrawlFinish, "state" | "failure">): Promise<boolean> {
    const { crawls, clock, bytesPerUserMax } = this.#options;
    const crawl = await crawls.find(id);
    if (crawl === undefined || crawl.state !== "scraping") return false;
    const plan = planOf(crawl);
    // Its process died before it had stored the job, or is of an older version.
    if (crawl.discovered === 0 || plan.webhook?.isOrdered !== true) await this.started(crawl, plan);
    const at = clock();
    const isNow = await crawls.finish(id, { ...finish, at, expiresAt: at + resultsTtlMs });
    if (isNow) await crawls.makeRoom(crawl, bytesPerUserMax, at);
    return isNow;
  }
}
