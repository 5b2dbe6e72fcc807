import type { Clock } from "../core/index.ts";
import type { Ticker } from "../streaming/index.ts";
import type { JobStore, LeasedJob } from "./store.ts";

export interface LeaseKeeping {
  jobs: JobStore;
  ticker: Pick<Ticker, "after">;
  clock: Clock;
  leaseMs: number;
  /** Called if the lease could not be renewed yet. */
  onError: (reason: unknown) => void;
  /** Called once if another process may run the job by now. */
  onLost?: () => void;
}

/**
 * Renews the lease of a job that this process runs outside of the runner, until the returned function is called. If the process
 * dies, the lease runs out, and the runner of any process takes the job.
 */
export function keepLease(keeping: LeaseKeeping, job: LeasedJob): () => void {
  const { ticker, leaseMs, onError, onLost } = keeping;
  let isKept = true;
  let cancel: () => void;
  const renew = async (): Promise<void> => {
    try {
      if (!(await renewLease(keeping, job))) {
        if (isKept) onLost?.();
        return;
      }
    } catch (reason) {
      onError(reason);
    }
    // Meanwhile the job may have ended.
    if (isKept) cancel = ticker.after(leaseMs / 4, () => void renew());
  };
  cancel = ticker.after(leaseMs / 4, () => void renew());
  return () => {
    isKept = false;
    cancel();
  };
}

/** Resolves with whether the job is still this process's. */
export function renewLease(
  { jobs, clock, leaseMs }: Pick<LeaseKeeping, "jobs" | "clock" | "leaseMs">,
  job: LeasedJob,
): Promise<boolean> {
  return jobs.renew(job, clock() + leaseMs);
}
