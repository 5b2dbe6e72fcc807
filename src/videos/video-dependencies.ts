import type { WorkDependencies, WorkShell } from "../charges/index.ts";
import type { Environment } from "../core/index.ts";
import type { JobStore } from "../jobs/index.ts";
import type { BusyTargets, ModelRouter, RouteLimits } from "../routing/index.ts";
import type { StoredObjects } from "../objects/index.ts";
import type { MemoryBudget } from "../streaming/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { AskApiDependencies } from "./ask-api.ts";
import type { StoredVideo, VideoStore } from "./store.ts";
import type { VideoPolls } from "./video-polls.ts";

/** The kind of the jobs that follow videos. */
export const VIDEO_JOB = "video";

/** Notifies those who asked for it of the end of a job. */
export interface VideoNotifier {
  /** Throws 422 for an address that cannot be notified. */
  check(url: string, user: string): Promise<void> | void;
  /** Durable when it resolves. A second call for the same job changes nothing. */
  ended(video: StoredVideo): Promise<void>;
}

export interface VideoDependencies extends AskApiDependencies {
  environment: Environment;
  videos: VideoStore;
  jobs: JobStore;
  work: WorkDependencies;
  router: ModelRouter;
  /** Requests with several targets, by target. */
  busy: BusyTargets;
  /** Of requests without a route of their own. */
  routeLimits: RouteLimits;
  storedObjects: StoredObjects;
  shell: WorkShell;
  memory: MemoryBudget;
  logger: Logger;
  notifier: VideoNotifier;
  polls: VideoPolls;
  /** The gateway's own address. */
  publicUrl: string;
  /** The name of this process. */
  node: string;
}
