import type { Clock } from "../core/index.ts";
import type { JobResult } from "./handler.ts";
import type { JobLease, JobStore, LeasedJob } from "./store.ts";

export interface ClaimedRun {
  jobs: JobStore;
  clock: Clock;
  /** For the time of the run. */
  lease: JobLease;
  /** Called if the run fails. The job then waits for its usual turn. */
  onError: (reason: unknown) => void;
}

/**
 * Runs one job of this id ahead of its time, outside of the runner. Resolves with whether that succeeded: another process may be
 * running the job. Rejects if the storage fails.
 */
export async function runClaimed(
  { jobs, clock, lease, onError }: ClaimedRun,
  id: string,
  run: (job: LeasedJob) => Promise<JobResult>,
): Promise<boolean> {
  const job = await jobs.claim(id, lease, clock());
  if (job === undefined) return false;
  try {
    await storeResult({ jobs, clock }, job, await run(job));
    return true;
  } catch (reason) {
    onError(reason);
    await jobs.reschedule(job, { runAt: job.runAt, attempts: job.attempts });
    return false;
  }
}

/** Removes a job that is done; any other one runs again. */
export async function storeResult(
  { jobs, clock }: Pick<ClaimedRun, "jobs" | "clock">,
  job: LeasedJob,
  result: JobResult,
): Promise<void> {
  if ("done" in result) {
    await jobs.finish(job);
    return;
  }
  const { again: payload, afterMs } = result;
  const next = { runAt: clock() + afterMs, attempts: 0 };
  // A payload that stays as it is need not be written again.
  await jobs.reschedule(job, payload === job.payload ? next : { ...next, payload });
}
