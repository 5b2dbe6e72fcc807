import { limits } from "../core/index.ts";
import type { LeasedJob } from "../jobs/index.ts";
import type { VideoDependencies } from "./video-dependencies.ts";

type LeaseDependencies = Pick<VideoDependencies, "jobs" | "ticker" | "environment" | "logger">;

/**
 * Renews the lease of a new job until the returned function is called. If this process dies, another one soon takes the
 * job for lost, and frees its hold and its retry key.
 */
export function keepLease(deps: LeaseDependencies, job: LeasedJob): () => void {
  const { ticker, logger } = deps;
  let isKept = true;
  let cancel: () => void;
  const renew = async (): Promise<void> => {
    try {
      if (!(await renewLease(deps, job))) return;
    } catch (reason) {
      logger.warn({ request_id: job.id, reason: String(reason) }, "the lease of a video job could not be renewed yet");
    }
    // Meanwhile the upstream may have answered.
    if (isKept) cancel = ticker.after(limits.videoLeaseMs / 4, () => void renew());
  };
  cancel = ticker.after(limits.videoLeaseMs / 4, () => void renew());
  return () => {
    isKept = false;
    cancel();
  };
}

/** Resolves with whether the job is still this process's. */
export function renewLease({ jobs, environment }: LeaseDependencies, job: LeasedJob): Promise<boolean> {
  return jobs.renew(job, environment.clock() + limits.videoLeaseMs);
}
