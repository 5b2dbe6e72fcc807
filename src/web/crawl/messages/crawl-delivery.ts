/**
 * Sends the messages of a crawl's webhook in Firecrawl's format and in their order, as a job of the crawl:
 *
 *   started ──▶ a page, in the order in which they were stored ──▶ … ──▶ completed or failed
 *
 * A message that is refused steps aside: further attempts are jobs of their own, which hold up no page. The last message waits for
 * them. Messages that were sent since the job was stored are sent again if its process dies, under the same ids.
 */
import { type AbortListener, type Clock, type JsonObject, objectOf, parseObject } from "../../../core/index.ts";
import type { Job, JobHandler, JobResult } from "../../../jobs/index.ts";
import type { Ticker } from "../../../streaming/index.ts";
import type { Webhooks } from "../../../webhooks/index.ts";
import { decompressText } from "../../compress.ts";
import { type CrawlPlan, type CrawlWebhookEvent, planOf } from "../crawl-request.ts";
import { answerOf } from "../extract/extraction-status.ts";
import type { Crawl, CrawlKind, CrawlStore } from "../store.ts";

export const CRAWL_WEBHOOK_JOB = "crawl-webhook";

/** How often a crawl is asked for new pages. */
const POLL_MS = 100;

/** How long a run of the job goes on, but for the message that it is sending; then it is stored how far it came. */
const TURN_MS = 5_000;

/** How long the last message waits for those that were refused, and how often they are looked at. */
const LAST_WAIT_MS_MAX = 10 * 60_000;
const LAST_LOOK_MS = 1_000;

/** How far the messages of a crawl have been sent. */
interface Progress {
  isStarted: boolean;
  /** Pages with a result, in the order of their positions, and pages that failed, in theirs. */
  pages: number;
  failures: number;
  /** Since when only the last message is left; undefined while others are. */
  lastSince?: number;
}

export const firstProgress = { isStarted: false, pages: 0, failures: 0 } satisfies Progress;

export interface CrawlDeliveryOptions {
  crawls: Pick<CrawlStore, "find" | "results" | "failedPage" | "leased">;
  webhooks: Pick<Webhooks, "send" | "hasScheduled">;
  clock: Clock;
  ticker: Pick<Ticker, "now" | "after">;
}

interface Message {
  event: CrawlWebhookEvent;
  /** In the crawl. */
  place: string;
  body: JsonObject;
  /** Sent instead of a body that is too long. */
  shorter?: JsonObject;
}

/** `sent`: something was, or need not be. `last`: only the last message is left. */
type Step = "sent" | "waiting" | "last" | "over";

export class CrawlDelivery implements JobHandler {
  readonly attemptsMax = 25;
  readonly runMsMax = 120_000;
  readonly concurrencyMax = 64;
  readonly #options: CrawlDeliveryOptions;

  constructor(options: CrawlDeliveryOptions) {
    this.#options = options;
  }

  async run({ payload }: Job, { signal }: { signal: AbortSignal }): Promise<JobResult> {
    const id = String(payload["id"]);
    // Written by `started`, and below.
    const progress = { ...(payload as unknown as Progress) };
    const again = (afterMs: number): JobResult => ({ again: { ...progress, id }, afterMs });
    const { crawls, ticker } = this.#options;
    const until = ticker.now() + TURN_MS;
    try {
      while (ticker.now() < until && !signal.aborted) {
        const crawl = await crawls.find(id);
        if (crawl === undefined) return { done: true };
        const step = await this.#step(crawl, progress, signal);
        if (step === "over") return { done: true };
        if (step === "last") return again(LAST_LOOK_MS);
        if (step === "waiting") await this.#pause(signal);
      }
    } catch (reason) {
      if (!signal.aborted) throw reason;
    }
    return again(0);
  }

  /** The messages are in the crawl: its pages can still be asked for. */
  onExhausted(): Promise<void> {
    return Promise.resolve();
  }

  /** Sends the next message, if there is one. */
  async #step(crawl: Crawl, progress: Progress, signal: AbortSignal): Promise<Step> {
    if (!progress.isStarted) {
      await this.#send(crawl, { event: "started", place: "started", body: { success: true, data: [] } }, signal);
      progress.isStarted = true;
    } else if (progress.pages < crawl.completed) {
      await this.#send(crawl, await this.#page(crawl, progress.pages), signal);
      progress.pages += 1;
    } else if (progress.failures < crawl.failed) {
      await this.#send(crawl, await this.#failure(crawl, progress.failures), signal);
      progress.failures += 1;
    } else return crawl.state === "scraping" ? "waiting" : this.#last(crawl, progress, signal);
    return "sent";
  }

  /** Undefined if the result has expired, or nobody wants its message. */
  async #page(crawl: Crawl, from: number): Promise<Message | undefined> {
    const { id } = crawl;
    if (!wants(planOf(crawl), "page")) return undefined;
    const [result] = await this.#options.crawls.results(id, { from, countMax: 1, bytesMax: 0 });
    const document = result && parseObject(await decompressText(result.content));
    return result && document && pageMessage(result.number, document);
  }

  /** Undefined for one that a process of an older version has ended, which has sent its message. */
  async #failure({ id }: Crawl, index: number): Promise<Message | undefined> {
    const failed = await this.#options.crawls.failedPage(id, index);
    if (failed === undefined) return undefined;
    const { number, url, message: error } = failed;
    const data = [{ metadata: { sourceURL: url, error } }];
    return { event: "page", place: `page-${number}`, body: { success: false, data, error } };
  }

  /** The last message, once all others were delivered or given up, or have waited too long. */
  async #last(crawl: Crawl, progress: Progress, signal: AbortSignal): Promise<Step> {
    const { crawls, webhooks, clock } = this.#options;
    if (crawl.state === "cancelled") return "over";
    progress.lastSince ??= clock();
    if (clock() - progress.lastSince < LAST_WAIT_MS_MAX) {
      // A page that was under way when the crawl ended may still be stored.
      if ((await crawls.leased(crawl.id)) > 0) return "waiting";
      if (await webhooks.hasScheduled(`${crawl.id}-`)) return "last";
    }
    const isCompleted = crawl.state === "completed";
    const error = isCompleted ? undefined : crawl.failure?.message;
    const event = isCompleted ? "completed" : "failed";
    const answer = isCompleted && crawl.kind === "extract" ? await answerOf(this.#options, crawl) : undefined;
    const facts = { success: isCompleted, data: [], error };
    const message =
      answer === undefined ? { body: facts } : { body: { ...facts, data: [answer.data] }, shorter: facts };
    await this.#send(crawl, { event, place: "end", ...message }, signal);
    return "over";
  }

  async #send(crawl: Crawl, message: Message | undefined, signal: AbortSignal): Promise<void> {
    const { id, kind, owner } = crawl;
    const plan = planOf(crawl);
    const { webhook } = plan;
    if (webhook === undefined || message === undefined || !wants(plan, message.event)) return;
    const type = `${eventNames[kind]}.${message.event}`;
    const webhookId = `${id}-${message.place}`;
    const bodyOf = (body: JsonObject): JsonObject => ({ ...body, type, id, webhookId, metadata: webhook.metadata });
    const { url, headers } = webhook;
    const { webhooks, clock } = this.#options;
    const common = { id: webhookId, owner, url, headers, at: clock() };
    const isSent = await webhooks.send({ ...common, body: bodyOf(message.body) }, signal);
    if (isSent || message.shorter === undefined) return;
    await webhooks.send({ ...common, body: bodyOf(message.shorter) }, signal);
  }

  #pause(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#options.ticker.after(POLL_MS, resolve);
    const listener: AbortListener = { handleEvent: () => resolve() };
    signal.addEventListener("abort", listener);
    return promise.finally(() => {
      cancel();
      signal.removeEventListener("abort", listener);
    });
  }
}

const eventNames: Readonly<Record<CrawlKind, string>> = { crawl: "crawl", batch: "batch_scrape", extract: "extract" };

/** The pages of an extraction are no result of it. */
function wants({ webhook, extraction }: CrawlPlan, event: CrawlWebhookEvent): boolean {
  if (extraction !== undefined && event === "page") return false;
  return webhook?.events.includes(event) === true;
}

function pageMessage(number: number, document: JsonObject): Message {
  return {
    event: "page",
    place: `page-${number}`,
    body: { success: true, data: [document] },
    shorter: { success: true, data: [shortened(document)] },
  };
}

/** A page that is too large for a message: its facts, and the address of the rest. */
function shortened({ metadata }: JsonObject): JsonObject {
  const { title, sourceURL, url, statusCode } = objectOf(metadata) ?? {};
  return {
    metadata: { title, sourceURL, url, statusCode },
    warning: "The page is too large for a webhook: read it from the status of the crawl.",
  };
}
