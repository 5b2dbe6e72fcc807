import type { Clock, JsonObject, RandomFraction } from "../core/index.ts";
import type { Job, JobHandler, JobResult } from "../jobs/index.ts";
import { type Outbound, OutboundError, retryAfterMs } from "../outbound/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { SecretError } from "../storage/index.ts";
import { collectBody } from "../upstream/index.ts";
import { type WebhookMessage, readMessage, WEBHOOK_JOB, signedHeaders } from "./message.ts";
import { retryWaitMs } from "./retry-times.ts";
import { WebhookError } from "./webhook-error.ts";
import type { WebhookSecrets } from "./webhook-secrets.ts";

/** How long an attempt may take, its look-ups included. */
const ATTEMPT_MS_MAX = 15_000;

/** The part of an answer that is read, so that the receiver can finish it. Its content has no effect. */
const ANSWER_BYTES_MAX = 64 * 1024;

/** Messages of one user that a process sends at the same time: a receiver that never answers delays no other user's. */
const PER_USER_MAX = 8;

/**
 * The wait of a message whose user has so many under way. It doubles each time, since thousands of messages may wait for
 * one receiver, and each turn costs two commits.
 */
const BUSY_MS_MIN = 1_000;
const BUSY_MS_MAX = 120_000;

const GONE = 410;

export interface DeliveryOptions {
  secrets: WebhookSecrets;
  outbound: Outbound;
  logger: Pick<Logger, "info" | "warn">;
  clock: Clock;
  randomFraction: RandomFraction;
}

/** The outcome of an attempt: the status of the answer and the wait that it asks for, or why there is none. */
type Outcome = { status: number; retryAfterMs: number | undefined } | { failure: string };

/**
 * Sends a message, as a job:
 *
 *   attempt ──2xx──────────▶ done
 *      ▲  ├──410───────────▶ done, the receiver wants no more
 *      │  └──anything else─▶ waiting ──attempts used up──▶ done, logged
 *      └────────────────────────┘
 */
export class WebhookDelivery implements JobHandler {
  /** Counts runs whose process died or lost the storage; failed attempts are counted in the message. */
  readonly attemptsMax = 25;
  readonly runMsMax = 2 * ATTEMPT_MS_MAX;
  readonly concurrencyMax = 64;
  readonly #options: DeliveryOptions;
  readonly #underWay = new Map<string, number>();

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  run({ owner, payload }: Job, { signal }: { signal: AbortSignal }): Promise<JobResult> {
    return this.deliverInTurn(owner, readMessage(payload), signal);
  }

  /** One attempt, or a wait if the user has many messages under way. Rejects as a run does. */
  async deliverInTurn(owner: string, message: WebhookMessage, signal: AbortSignal): Promise<JobResult> {
    const running = this.#underWay.get(owner) ?? 0;
    if (running >= PER_USER_MAX) return this.#defer(message);
    this.#underWay.set(owner, running + 1);
    try {
      return await this.deliver(owner, message, signal);
    } finally {
      this.#leave(owner);
    }
  }

  onExhausted({ id, owner, attempts }: Job): Promise<void> {
    this.#giveUp({ webhook_id: id.slice(`${WEBHOOK_JOB}:`.length), user: owner, attempts, failure: "its runs failed" });
    return Promise.resolve();
  }

  #defer(message: WebhookMessage): JobResult {
    const { deferrals } = message;
    const wait = Math.min(BUSY_MS_MIN * 2 ** deferrals, BUSY_MS_MAX);
    const afterMs = Math.round(wait * (1 + this.#options.randomFraction()));
    return { again: { ...message, deferrals: deferrals + 1 }, afterMs };
  }

  /** One attempt. Rejects as a run does. */
  async deliver(owner: string, message: WebhookMessage, signal: AbortSignal): Promise<JobResult> {
    const outcome = await this.#attempt(owner, message, signal);
    const answer = "status" in outcome ? outcome : undefined;
    if (answer !== undefined && answer.status >= 200 && answer.status < 300) return { done: true };
    const { id, url } = message;
    const attempts = message.attempts + 1;
    const why = "status" in outcome ? { status: outcome.status } : outcome;
    const facts = { webhook_id: id, user: owner, host: hostOf(url), attempts, ...why };
    if (answer?.status === GONE) {
      this.#options.logger.info(facts, "webhook is not wanted any more");
      return { done: true };
    }
    const afterMs = retryWaitMs(attempts, this.#options.randomFraction(), answer?.retryAfterMs);
    if (afterMs === undefined) {
      this.#giveUp(facts);
      return { done: true };
    }
    this.#options.logger.info(facts, "webhook failed, will be sent again");
    return { again: { ...message, attempts, deferrals: 0 } satisfies JsonObject, afterMs };
  }

  /** Rejects only if the run itself was aborted, which is no failure of the receiver, or if the storage does not answer. */
  async #attempt(owner: string, message: WebhookMessage, signal: AbortSignal): Promise<Outcome> {
    const { secrets, outbound, clock } = this.#options;
    try {
      const headers = signedHeaders(message, await secrets.signing(owner), clock());
      const { url, body } = message;
      const bounds = { bytesMax: ANSWER_BYTES_MAX, timeoutMs: ATTEMPT_MS_MAX };
      const reply = await outbound.fetch({ ...bounds, url, method: "POST", headers, body, signal });
      // The status decides, even if the rest of the answer is too long or breaks off.
      await Promise.resolve(collectBody(reply.body, ANSWER_BYTES_MAX)).catch(() => undefined);
      return { status: reply.status, retryAfterMs: retryAfterMs(reply.headers.get("retry-after"), clock()) };
    } catch (reason) {
      if (reason instanceof OutboundError) return { failure: `${reason.failure}: ${reason.message}` };
      if (reason instanceof WebhookError || reason instanceof SecretError) return { failure: reason.message };
      throw reason;
    }
  }

  #giveUp(facts: object): void {
    this.#options.logger.warn(facts, "webhook could not be delivered");
  }

  #leave(owner: string): void {
    const running = (this.#underWay.get(owner) ?? 1) - 1;
    if (running === 0) this.#underWay.delete(owner);
    else this.#underWay.set(owner, running);
  }
}

/** The rest of a URL may contain secrets of the receiver. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}
