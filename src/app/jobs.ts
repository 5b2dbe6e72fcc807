/** The part of the composition for durable jobs: video jobs, responses in the background, webhooks, and their runner. */
import { hostname } from "node:os";
import { type AlertParts, createAlerts, createOwnAlerts } from "./alerts/alerts.ts";
import { createWebhooks } from "./webhooks.ts";
import type { OwnAlerts } from "../alerts/index.ts";
import type { AuditLog } from "../audit/index.ts";
import type { Config } from "../config/index.ts";
import type { Environment } from "../core/index.ts";
import { type Job, type JobHandler, JobRunner, type NewJob, openJobStore } from "../jobs/index.ts";
import type { RunningPart } from "../http/index.ts";
import { BACKGROUND_JOB, BackgroundResponses, openBackgroundStore, openResponseStore } from "../objects/index.ts";
import type { Outbound } from "../outbound/index.ts";
import type { PaidWork } from "./paid-work.ts";
import { createRetention } from "./retention/retention.ts";
import type { Storage } from "../storage/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { CatalogLayers } from "../pricing/index.ts";
import { notifierOf, openVideoStore, VIDEO_JOB, VideoJobs } from "../videos/index.ts";
import type { Webhooks, WebhookSecrets } from "../webhooks/index.ts";

/** The interval at which a storage that cannot be asked for jobs is logged. */
const JOB_STORAGE_TOLD_MS = 60_000;

/** How long current runs of jobs may take before they are aborted; another process repeats those. */
const JOBS_MS_MAX = 2_000;

interface JobsOptions {
  config: Config;
  log: AuditLog;
  environment: Environment;
  storage: Storage;
  logger: Logger;
  /** The parts that calls are made with, video jobs are made with too. */
  calls: PaidWork;
  outbound: Outbound;
  /** The gateway's own address. */
  publicUrl: string;
  lasting: AlertParts;
  /** Those in force. */
  catalogs: () => CatalogLayers;
}

export interface Jobs {
  videos: VideoJobs;
  background: BackgroundResponses;
  webhooks: Webhooks;
  webhookSecrets: WebhookSecrets;
  /** Of users about their own budgets. */
  ownAlerts: OwnAlerts;
  /** Runs due jobs in this process until it stops. */
  jobs: RunningPart;
  /** Undefined if the configuration has no alerts. */
  alerts: RunningPart | undefined;
  /** Undefined if old entries are kept. */
  retention: RunningPart | undefined;
  /** Runs the jobs of a further kind too. */
  handle: (kind: string, handler: JobHandler) => void;
  /** Looks for due jobs of a kind now. */
  wake: (kind: string) => void;
  /** Stores a job and runs it, unless it is there already. */
  startJob: (job: NewJob) => Promise<void>;
}

/** The features that work by jobs, and their runner, which starts at once. */
export function createJobs(options: JobsOptions): Jobs {
  const { environment, storage, logger, calls, publicUrl } = options;
  const { clock, randomBytes, randomFraction } = environment;
  const { ticker } = calls.work;
  const store = openJobStore(storage);
  const node = `${hostname()}:${process.pid}`;
  const wake = (kind: string): void => jobs.wake(kind);
  const sent = createWebhooks({ ...options, jobs: store, wake });
  const { webhooks, secrets: webhookSecrets, delivery, handlers } = sent;
  const ownAlerts = createOwnAlerts({ ...options, jobs: store, delivery, wake });
  const videos = new VideoJobs({
    ...calls,
    ticker,
    jobs: store,
    videos: openVideoStore(storage),
    notifier: notifierOf(webhooks, { clock, publicUrl }),
    publicUrl,
    node,
  });
  const background = new BackgroundResponses({
    ...calls,
    asking: { environment, send: calls.send, observer: calls.observer, memory: calls.memory, ticker },
    background: openBackgroundStore(storage),
    responses: openResponseStore(storage),
    jobs: store,
    ticker,
    randomBytes,
    node,
  });
  const alerts = createAlerts({ ...options, jobs: store, router: calls.router, node, wake });
  const retention = createRetention({ ...options, jobs: store, node, wake });
  const jobs = new JobRunner({
    store,
    clock,
    ticker,
    randomBytes,
    randomFraction,
    node,
    handlers: new Map([
      ...handlers,
      ...(alerts?.handlers ?? []),
      ...(retention?.handlers ?? []),
      ...ownAlerts.handlers,
      [VIDEO_JOB, videos.handler],
      [BACKGROUND_JOB, background.handler],
    ]),
    onError: jobErrors(logger, clock),
  });
  const handle: Jobs["handle"] = (kind, handler) => jobs.handle(kind, handler);
  const startJob: Jobs["startJob"] = async (job) => {
    await store.put(job);
    wake(job.kind);
  };
  const parts = { jobs: partOf(jobs, videos), alerts: alerts?.part, retention: retention?.part };
  return { videos, background, webhooks, webhookSecrets, ownAlerts, ...parts, handle, wake, startJob };
}

/** The jobs and the videos of one configuration, which end together. */
function partOf(jobs: JobRunner, videos: VideoJobs): RunningPart {
  let stopped: Promise<unknown> | undefined;
  const close = (): void => {
    stopped ??= Promise.all([jobs.stop(JOBS_MS_MAX), videos.stop()]);
  };
  const stop = async (): Promise<void> => {
    close();
    await stopped;
  };
  return {
    get own() {
      return jobs.running;
    },
    retire: () => jobs.close(),
    close,
    stop,
  };
}

/** Logs the errors of jobs, and seldom those of the storage, which is asked every second. */
function jobErrors(logger: Logger, clock: () => number): (reason: unknown, job: Job | undefined) => void {
  let toldAt = -Infinity;
  return (reason, job) => {
    const facts = { job: job?.id, kind: job?.kind, reason: String(reason) };
    if (job !== undefined) return logger.error(facts, "job failed");
    if (clock() - toldAt < JOB_STORAGE_TOLD_MS) return;
    toldAt = clock();
    logger.error(facts, "jobs could not be read");
  };
}
