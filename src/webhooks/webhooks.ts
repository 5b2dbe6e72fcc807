import { type Clock, GatewayError, type JsonObject } from "../core/index.ts";
import type { JobStore } from "../jobs/index.ts";
import { type Outbound, OutboundError, type OutboundFailure } from "../outbound/index.ts";
import { type FirecrawlEvent, firecrawlMessageOf, messageOf, WEBHOOK_JOB, type WebhookEvent } from "./message.ts";
import type { WebhookDelivery } from "./delivery.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

/** How long the look-up of a name may delay a call; it is repeated before each attempt. */
const CHECK_MS_MAX = 3_000;

/** Failures that are the caller's. A resolver that does not answer now may do so when the message is sent. */
const callersFailures: ReadonlySet<OutboundFailure> = new Set(["refused", "unresolved"]);

export interface WebhooksOptions {
  jobs: JobStore;
  secrets: WebhookSecrets;
  outbound: Outbound;
  delivery: Pick<WebhookDelivery, "deliver">;
  clock: Clock;
  /** Called when a message is due, with the kind of its job. */
  onScheduled: (kind: string) => void;
}

/** The features' access to webhooks: check the address when a caller gives it, schedule a message when something happens. */
export class Webhooks {
  readonly #options: WebhooksOptions;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /**
   * Rejects with 422 `validation_failed` if the address is not permitted, or if the user has no secret to sign with. `param`
   * is the member of the request that contains it.
   */
  async check({ owner, url, param = "webhook_url" }: { owner: string; url: string; param?: string }): Promise<void> {
    const invalid = (message: string): GatewayError =>
      new GatewayError("validation_failed", `${param}: ${message}`, { param });
    const { outbound, secrets } = this.#options;
    try {
      await outbound.check(url, { timeoutMs: CHECK_MS_MAX });
    } catch (reason) {
      if (!(reason instanceof OutboundError)) throw reason;
      if (callersFailures.has(reason.failure)) throw invalid(`${reason.message}.`);
    }
    if (await secrets.has(owner)) return;
    throw invalid(
      `${owner} has no secret for signing webhooks: make one with POST /v1/webhooks/secret, or an operator does with ` +
        `tollgate webhooks secret --user ${owner}`,
    );
  }

  /**
   * Schedules the delivery of a message, which is durable when this resolves. A message whose id is already scheduled stays
   * as it is. Each is delivered at least once: one that is scheduled again after its delivery is sent again, with the same
   * `webhook-id`. Rejects with a RangeError if the id or the data can't be sent.
   */
  async schedule(event: WebhookEvent): Promise<void> {
    await this.#put(event, messageOf(event));
  }

  /**
   * Sends a message in Firecrawl's format now. One that is not delivered is scheduled for its further attempts, which is durable
   * when this resolves. Resolves with false, and sends nothing, if its body is too long. Rejects as a run of a job does.
   */
  async send(event: FirecrawlEvent, signal: AbortSignal): Promise<boolean> {
    const message = firecrawlMessageOf(event);
    if (message === undefined) return false;
    const result = await this.#options.delivery.deliver(event.owner, message, signal);
    if ("again" in result) await this.#put(event, result.again, result.afterMs);
    return true;
  }

  /** Whether messages wait for an attempt, or are under way, whose ids begin with this text. */
  hasScheduled(prefix: string): Promise<boolean> {
    return this.#options.jobs.hasAny(`${WEBHOOK_JOB}:${prefix}`);
  }

  async #put({ id, owner }: Pick<WebhookEvent, "id" | "owner">, message: JsonObject, afterMs = 0): Promise<void> {
    const { jobs, clock, onScheduled } = this.#options;
    const now = clock();
    const job = { id: `${WEBHOOK_JOB}:${id}`, kind: WEBHOOK_JOB, owner, payload: { ...message } };
    await jobs.put({ ...job, runAt: now + afterMs, createdAt: now });
    if (afterMs === 0) onScheduled(WEBHOOK_JOB);
  }
}
