/** The ends of crawls, and the messages of their webhooks in Firecrawl's format. */
import { type Clock, type JsonObject, objectOf, parseObject } from "../../../core/index.ts";
import type { Webhooks } from "../../../webhooks/index.ts";
import type { CrawlPlan, CrawlWebhook, CrawlWebhookEvent } from "../crawl-request.ts";
import type { OpenCrawl } from "../open-crawl.ts";
import { decompressText } from "../../compress.ts";
import type { Crawl, CrawlFailure, CrawlFinish, CrawlStore, LeasedPage } from "../store.ts";

/** How long the results of an ended crawl are kept. */
const resultsTtlMs = 24 * 3_600_000;

export interface CrawlMessagesOptions {
  crawls: CrawlStore;
  webhooks: Pick<Webhooks, "scheduleFirecrawl">;
  clock: Clock;
  /** Bytes of one user's stored results: the oldest ended crawls make room. */
  bytesPerUserMax: number;
}

interface PageOf {
  page: LeasedPage;
  crawl: OpenCrawl;
}

export class CrawlMessages {
  readonly #options: CrawlMessagesOptions;

  constructor(options: CrawlMessagesOptions) {
    this.#options = options;
  }

  async started(crawl: Pick<Crawl, "id" | "kind" | "owner">, { webhook }: CrawlPlan): Promise<void> {
    await this.#send(crawl, webhook, { event: "started", place: "started", body: { success: true, data: [] } });
  }

  /** A page whose result is stored. Repeated for a page whose process died in between, under the same id. */
  async page({ page, crawl }: PageOf): Promise<void> {
    const { webhook } = crawl.plan;
    if (webhook === undefined || !webhook.events.includes("page")) return;
    const content = await this.#options.crawls.content(page);
    const document = content && parseObject(await decompressText(content));
    await this.#send(crawl, webhook, {
      event: "page",
      place: `page-${page.number}`,
      body: { success: true, data: document === undefined ? [] : [document] },
      shorter: { success: true, data: [shortened(document ?? {})] },
    });
  }

  async pageFailed({ page, crawl }: PageOf, { message }: CrawlFailure): Promise<void> {
    const data = [{ metadata: { sourceURL: page.url, error: message } }];
    const body = { success: false, data, error: message };
    await this.#send(crawl, crawl.plan.webhook, { event: "page", place: `page-${page.number}`, body });
  }

  /** Ends a crawl that runs. Its message is scheduled first: one that is repeated has the same id. */
  async finish(id: string, finish: Pick<CrawlFinish, "state" | "failure">): Promise<boolean> {
    const { crawls, clock, bytesPerUserMax } = this.#options;
    const crawl = await crawls.find(id);
    if (crawl === undefined || crawl.state !== "scraping") return false;
    const { webhook } = crawl.request as unknown as CrawlPlan;
    const error = finish.failure?.message;
    if (finish.state === "completed") {
      await this.#send(crawl, webhook, { event: "completed", place: "end", body: { success: true, data: [] } });
    } else if (finish.state === "failed") {
      await this.#send(crawl, webhook, { event: "failed", place: "end", body: { success: false, data: [], error } });
    }
    const at = clock();
    const isNow = await crawls.finish(id, { ...finish, at, expiresAt: at + resultsTtlMs });
    if (isNow) await crawls.makeRoom(crawl, bytesPerUserMax, at);
    return isNow;
  }

  async #send(
    { id, kind, owner }: Pick<Crawl, "id" | "kind" | "owner">,
    webhook: CrawlWebhook | undefined,
    message: { event: CrawlWebhookEvent; place: string; body: JsonObject; shorter?: JsonObject },
  ): Promise<void> {
    if (webhook === undefined || !webhook.events.includes(message.event)) return;
    const type = `${kind === "crawl" ? "crawl" : "batch_scrape"}.${message.event}`;
    const webhookId = `${id}-${message.place}`;
    const bodyOf = (body: JsonObject): JsonObject => ({ ...body, type, id, webhookId, metadata: webhook.metadata });
    const { url, headers } = webhook;
    const common = { id: webhookId, owner, url, headers, at: this.#options.clock() };
    const isSent = await this.#options.webhooks.scheduleFirecrawl({ ...common, body: bodyOf(message.body) });
    if (isSent || message.shorter === undefined) return;
    await this.#options.webhooks.scheduleFirecrawl({ ...common, body: bodyOf(message.shorter) });
  }
}

/** A page that is too large for a message: its facts, and the address of the rest. */
function shortened({ metadata }: JsonObject): JsonObject {
  const { title, sourceURL, url, statusCode } = objectOf(metadata) ?? {};
  return {
    metadata: { title, sourceURL, url, statusCode },
    warning: "The page is too large for a webhook: read it from the status of the crawl.",
  };
}
