import type { PaidAnswer, PaidRequest } from "../charges/index.ts";
import type { VideoOperation } from "../core/index.ts";
import type { JobHandler } from "../jobs/index.ts";
import { createVideo } from "./create-video.ts";
import { deleteVideo } from "./delete-video.ts";
import { endOverdue, followVideo, type VideoJobPayload } from "./follow-video.ts";
import { downloadVideo, getVideo, listVideos, type VideoLookup, type VideoPage } from "./lookups.ts";
import type { VideoDependencies } from "./video-dependencies.ts";
import { hasOwnShape, listOwnVideos, type OwnVideoPage } from "./own-shape.ts";
import { VideoPolls } from "./video-polls.ts";

/** Failures in a row; with the longest back-off, days. The time since the creation decides before. */
const ATTEMPTS_MAX = 100_000;

/** One look at a job. */
const RUN_MS_MAX = 60_000;

/** All that can be done with video jobs. */
export class VideoJobs {
  readonly #deps: VideoDependencies;

  constructor(deps: Omit<VideoDependencies, "polls">) {
    this.#deps = { ...deps, polls: new VideoPolls() };
  }

  /** `isOwn`: the answer has the shape of the provider's own API, as `VideoLookup.isOwn`. */
  create(operation: VideoOperation, request: PaidRequest, isOwn = false): Promise<PaidAnswer> {
    return createVideo(this.#deps, operation, request, isOwn);
  }

  get(lookup: VideoLookup): Promise<Response> {
    return getVideo(this.#deps, lookup);
  }

  list(page: VideoPage): Promise<Response> {
    return listVideos(this.#deps, page);
  }

  listOwn(page: OwnVideoPage): Promise<Response> {
    return listOwnVideos(this.#deps, page);
  }

  /** Whether the jobs of this provider have a shape of their own at this path of its API. */
  hasOwnShape(prefix: string, path: string): boolean {
    return hasOwnShape(this.#deps, prefix, path);
  }

  remove(lookup: VideoLookup): Promise<Response> {
    return deleteVideo(this.#deps, lookup);
  }

  download(lookup: VideoLookup): Promise<Response> {
    return downloadVideo(this.#deps, lookup);
  }

  /** Deletes the records of jobs that ended long ago. */
  deleteExpired(): Promise<void> {
    return this.#deps.videos.deleteExpired(this.#deps.environment.clock());
  }

  /** Ends the questions that callers have left to go on. */
  stop(): Promise<void> {
    return this.#deps.polls.stop();
  }

  /** Follows the jobs in the background. */
  get handler(): JobHandler {
    const deps = this.#deps;
    return {
      async run(job, { signal }) {
        try {
          return await followVideo(deps, job, { signal });
        } catch (reason) {
          const payload = job.payload as VideoJobPayload;
          if (deps.environment.clock() < payload.until) throw reason;
          await giveUp(deps, job.id, payload);
          return { done: true };
        }
      },
      onExhausted: (job) => giveUp(deps, job.id, job.payload as VideoJobPayload),
      attemptsMax: ATTEMPTS_MAX,
      runMsMax: RUN_MS_MAX,
      concurrencyMax: deps.polls.places.count,
      places: deps.polls.places,
      upstreamOf: ({ payload }) => (payload as VideoJobPayload).parked.source.provider,
    };
  }
}

async function giveUp(deps: VideoDependencies, id: string, payload: VideoJobPayload): Promise<void> {
  const video = await deps.videos.find(id);
  if (video !== undefined) await endOverdue(deps, payload, video);
}
