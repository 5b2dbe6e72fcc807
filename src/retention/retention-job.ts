/** The job that removes old entries. It is there as long as it has something to do; one process at a time does a step. */
import type { AuditLog } from "../audit/index.ts";
import { type Clock, type JsonObject, objectOf } from "../core/index.ts";
import type { Job, JobHandler, JobResult, NewJob } from "../jobs/index.ts";
import type { RetentionSettings, RetentionStep, StepOutcome } from "./steps.ts";

export const RETENTION_JOB = "retention";

/** A step reads all unsealed entries, or writes or removes those of many days. */
const RUN_MS_MAX = 24 * 3_600_000;

interface RetentionJobOptions {
  settings: Omit<RetentionSettings, "now" | "signal">;
  /** Does a step beside calls. */
  run: (step: RetentionStep, settings: RetentionSettings) => Promise<StepOutcome>;
  clock: Clock;
  logger: { info: (facts: object, message: string) => void };
  audit: Pick<AuditLog, "note">;
  /** Who acts, for the audit log: `node:NAME`. */
  actor: string;
}

export class RetentionJob implements JobHandler {
  /** It is never given up: the log and the alert of overdue jobs name it. */
  readonly attemptsMax = Number.MAX_SAFE_INTEGER;
  readonly runMsMax = RUN_MS_MAX;
  readonly concurrencyMax = 1;
  readonly #options: RetentionJobOptions;

  constructor(options: RetentionJobOptions) {
    this.#options = options;
  }

  /** Put whenever something may be old enough. One that has not ended yet stays as it is. */
  get job(): NewJob {
    const at = this.#options.clock();
    const payload: JsonObject = { step: "seal" };
    return { id: RETENTION_JOB, kind: RETENTION_JOB, owner: RETENTION_JOB, payload, runAt: at, createdAt: at };
  }

  async run({ payload }: Job, { signal }: { signal: AbortSignal }): Promise<JobResult> {
    const { settings, run, clock } = this.#options;
    const step = readStep(payload);
    const outcome = await run(step, { ...settings, now: clock(), signal });
    await this.#report(outcome);
    const { next } = outcome;
    return next === undefined ? { done: true } : { again: { ...next }, afterMs: 0 };
  }

  /** The row of a removal is older than all of its commits, as that of the command is. */
  async #report({ next, done }: StepOutcome): Promise<void> {
    if (done === undefined) return;
    const { logger } = this.#options;
    if ("sealedBefore" in done) {
      const { sealedBefore, entries } = done;
      logger.info({ before: iso(sealedBefore), entries }, "old entries sealed");
      await this.#note("ledger.seal", { before: iso(sealedBefore), entries });
    } else if ("file" in done) {
      logger.info({ ...done }, "old entries exported");
      if (next?.step === "remove") await this.#note("ledger.remove", { before: iso(next.before), ...done });
    } else logger.info({ ...done }, "old entries removed");
  }

  #note(act: string, after: object): Promise<void> {
    const { audit, actor } = this.#options;
    return audit.note({ actor: { name: actor } }, { act, target: "ledger", after });
  }

  onExhausted(): Promise<void> {
    return Promise.resolve();
  }
}

const iso = (at: number): string => new Date(at).toISOString();

function readStep(payload: JsonObject): RetentionStep {
  const { step, from, before } = objectOf(payload) ?? {};
  if (typeof before !== "number") return { step: "seal" };
  if (step === "remove") return { step, before };
  return step === "export" && typeof from === "number" ? { step, from, before } : { step: "seal" };
}
