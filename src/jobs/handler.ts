import type { JsonObject, Places } from "../core/index.ts";
import type { Job } from "./store.ts";

/** The result of a run: the job is done, or runs again after a while with this payload. */
export type JobResult = { done: true } | { again: JsonObject; afterMs: number };

/**
 * Runs the jobs of one kind. A job runs at least once: a node may die, or lose the storage, after a run's effects and before
 * its result is stored. A handler's effects must therefore be idempotent, as the ledger's operations are by their ids.
 */
export interface JobHandler {
  /**
   * Does the job or a part of it. A run that throws is retried later with the same payload. The signal aborts when the runner
   * stops, when the run takes too long, and when its lease is lost. After a lost lease another node may run the job, and the
   * result of this run is ignored.
   */
  run(job: Job, context: { signal: AbortSignal }): Promise<JobResult>;
  /**
   * Cleans up after a job whose attempts are used up. The job is removed when this resolves; a call that throws is retried
   * with the same back-off as a run. The reason is the error of the last run, undefined if its process died.
   */
  onExhausted(job: Job, reason: unknown): Promise<void>;
  /**
   * Failed runs in a row before the job is given up; a run whose process died counts as failed. Should be more than one: a
   * lease whose answer did not reach its process counts as well.
   */
  attemptsMax: number;
  /** How long a run may take. */
  runMsMax: number;
  /** Jobs of this kind that one process runs at the same time. Owners share them, and the last one is left to who runs none. */
  concurrencyMax: number;
  /** Instead of `concurrencyMax` places of the runner's own: those that other work of the handler takes too. */
  places?: Places;
  /** The upstream that a job asks, by which the places are shared as well. */
  upstreamOf?(job: Job): string | undefined;
}
