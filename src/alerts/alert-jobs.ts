/** The jobs of alerts: a look at all rules every few seconds, the daily audit, and the messages. One process at a time does each. */
import type { AlertsConfig } from "../config/index.ts";
import type { Clock, Fetch, RandomFraction } from "../core/index.ts";
import type { Job, JobHandler, JobResult, NewJob } from "../jobs/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { retryWaitMs } from "../webhooks/index.ts";
import type { AlertBook } from "./alert-book.ts";
import type { Crossing } from "./alert.ts";
import type { Conditions } from "./conditions/conditions.ts";
import { ALERT_JOB, type AlertMessage, readAlertMessage } from "./sending/message.ts";
import { sendMessage } from "./sending/send.ts";
import type { AlertStore } from "./store.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The first audit waits until the start is over. */
const FIRST_AUDIT_MS = 10 * 60_000;

/** How long a closed alert is kept. */
const KEPT_MS = 90 * DAY_MS;

/** An audit of large books takes minutes. */
const RUN_MS_MAX = HOUR_MS;

/** Runs in one process; looks, audits and each channel have places of their own. */
const RUNS_MAX = 16;

interface AlertJobsOptions {
  config: AlertsConfig;
  book: AlertBook;
  store: AlertStore;
  conditions: Conditions;
  /** Recomputes the books. */
  audit: () => Promise<readonly Crossing[]>;
  fetch: Fetch;
  clock: Clock;
  randomFraction: RandomFraction;
  logger: Pick<Logger, "info" | "warn">;
}

export class AlertJobs implements JobHandler {
  /** A look is never given up; a message counts its own attempts. */
  readonly attemptsMax = Number.MAX_SAFE_INTEGER;
  readonly runMsMax = RUN_MS_MAX;
  readonly concurrencyMax = RUNS_MAX;
  readonly #options: AlertJobsOptions;

  constructor(options: AlertJobsOptions) {
    this.#options = options;
  }

  /** The jobs that never end. Those that are there already stay. */
  get standing(): readonly NewJob[] {
    const at = this.#options.clock();
    const jobOf = (task: "look" | "audit", runAt: number): NewJob => ({
      id: `${ALERT_JOB}:${task}`,
      kind: ALERT_JOB,
      owner: task,
      payload: { task },
      runAt,
      createdAt: at,
    });
    return [jobOf("look", at), jobOf("audit", at + FIRST_AUDIT_MS)];
  }

  async run({ payload }: Job, { signal }: { signal: AbortSignal }): Promise<JobResult> {
    const message = readAlertMessage(payload);
    if (message !== undefined) return this.#send(message, signal);
    if (payload["task"] === "audit") return this.#audit();
    return this.#look();
  }

  onExhausted(): Promise<void> {
    return Promise.resolve();
  }

  async #look(): Promise<JobResult> {
    const { book, conditions, clock, config } = this.#options;
    const { rules, found } = await conditions.look((rule) => book.wants(rule));
    await book.settle(rules, found, clock());
    return { again: { task: "look" }, afterMs: config.every };
  }

  async #audit(): Promise<JobResult> {
    const { book, audit, clock, store } = this.#options;
    if (book.wants("audit_drift")) await book.settle(new Set(["audit_drift"]), await audit(), clock());
    const at = clock();
    await store.deleteBefore({ closedAt: at - KEPT_MS, reportedAt: at - HOUR_MS });
    return { again: { task: "audit" }, afterMs: DAY_MS };
  }

  async #send(message: AlertMessage, signal: AbortSignal): Promise<JobResult> {
    const { config, fetch, clock, randomFraction, logger } = this.#options;
    const channel = config.channels[message.channel];
    try {
      // Another node may have the channel: a message is not lost while a configuration is rolled out.
      if (channel === undefined) throw new Error("there is no such channel");
      await sendMessage(channel, message, { fetch, at: clock(), signal });
      return { done: true };
    } catch (reason) {
      signal.throwIfAborted();
      const attempts = message.attempts + 1;
      const afterMs = retryWaitMs(attempts, randomFraction());
      const line = { channel: message.channel, alert_id: message.id, attempts, reason: causeOf(reason) };
      if (afterMs === undefined) {
        logger.warn(line, "alert could not be sent");
        return { done: true };
      }
      logger.info(line, "alert failed, will be sent again");
      return { again: { ...message, attempts }, afterMs };
    }
  }
}

/** A code, or a message of our own: others may repeat an address, which may contain a secret. */
function causeOf(reason: unknown): string {
  if (!(reason instanceof Error)) return "unknown";
  if ("code" in reason && typeof reason.code === "string") return reason.code;
  return /^status \d{3}$|^there is no such channel$/.test(reason.message) ? reason.message : reason.name;
}
