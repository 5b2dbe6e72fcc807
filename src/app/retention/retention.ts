/** The part of the composition that removes old entries, for the node whose configuration names the folder of their exports. */
import type { AuditLog } from "../../audit/index.ts";
import type { Config } from "../../config/index.ts";
import { type Environment, everyUnref } from "../../core/index.ts";
import type { RunningPart } from "../../http/index.ts";
import type { JobHandler, JobStore } from "../../jobs/index.ts";
import { RETENTION_JOB, RetentionJob } from "../../retention/index.ts";
import type { Storage } from "../../storage/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { runBeside } from "./run-beside.ts";

/** How often a process looks whether entries are old enough. */
const LOOK_MS = 3_600_000;

interface RetentionOptions {
  config: Config;
  environment: Environment;
  storage: Storage;
  logger: Logger;
  jobs: JobStore;
  log: AuditLog;
  /** The name of this process among the nodes. */
  node: string;
  wake: (kind: string) => void;
}

interface Retention {
  handlers: [string, JobHandler][];
  /** Puts the job from time to time. */
  part: RunningPart;
}

/** Undefined if the configuration keeps everything. */
export function createRetention(options: RetentionOptions): Retention | undefined {
  const { config, environment, storage, logger, jobs, wake, log, node } = options;
  if (config.retention === undefined) return undefined;
  const { generations: keptMs, every: everyMs, export: folder } = config.retention;
  const job = new RetentionJob({
    settings: { keptMs, everyMs, folder },
    run: (step, settings) => runBeside(storage, step, settings),
    clock: environment.clock,
    logger,
    audit: log,
    actor: `node:${node}`,
  });
  const look = (): void => {
    jobs
      .put(job.job)
      .then(() => wake(RETENTION_JOB))
      .catch((reason: unknown) => logger.warn({ reason: String(reason) }, "old entries are not looked for"));
  };
  look();
  const stop = everyUnref(LOOK_MS, look);
  return { handlers: [[RETENTION_JOB, job]], part: { retire: stop, close: stop } };
}
