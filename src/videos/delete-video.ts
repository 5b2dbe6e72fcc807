/**
 * `DELETE /v1/videos/{video_id}`. A job that has not ended is leased and looked up first, so that it is charged by its last
 * state. Once the upstream has confirmed the deletion, the work ends and the record goes in the same request; no webhook
 * is sent for it.
 */
import { GatewayError, type Nano } from "../core/index.ts";
import type { LeasedJob } from "../jobs/index.ts";
import { type FailedReply, relayedErrorHeaders } from "../sending/index.ts";
import { type ApiAnswer, askApi, jobsOf } from "./ask-api.ts";
import {
  ASK_MS_MAX,
  CLAIM_MS,
  endDeleted,
  followVideo,
  isEnded,
  videoLease,
  noteFailedLook,
  pauseAfter,
  type VideoJobPayload,
} from "./follow-video.ts";
import { headersOf, ownVideo, routeOf, type VideoLookup } from "./lookups.ts";
import type { StoredVideo } from "./store.ts";
import type { VideoDependencies } from "./video-dependencies.ts";

/** The pause before a job that another process looks up is asked for again. */
const CLAIM_AGAIN_MS = 100;

/** Throws 404 if the caller has no such job, or the provider deletes none; an upstream's refusal is relayed. */
export async function deleteVideo(deps: VideoDependencies, lookup: VideoLookup): Promise<Response> {
  const found = await ownVideo(deps, lookup);
  if (!jobsOf(routeOf(deps, found)).api.canDelete) {
    throw new GatewayError("unsupported_operation", `The provider ${found.provider} deletes no videos.`);
  }
  const job = await claimOpen(deps, found);
  if (job === undefined) return deleteEnded(deps, await ownVideo(deps, lookup), lookup);
  let isKept = true;
  try {
    const video = await lookUp(deps, job, found);
    if (isEnded(video.state)) {
      await deps.jobs.finish(job);
      isKept = false;
      return await deleteEnded(deps, video, lookup);
    }
    const reply = await askToDelete(deps, video);
    // A 404 after a look that found the job is the answer to a deletion, such as one whose own answer was lost.
    const isGone = reply.kind === "answer" || (reply.status === 404 && video.polledAt !== found.polledAt);
    if (!isGone) return refused(deps, video, reply);
    const credits = await endDeleted(deps, job.payload as VideoJobPayload, video);
    await deps.videos.remove(video.id);
    await deps.jobs.finish(job);
    isKept = false;
    return deleted(deps, { video, lookup }, credits);
  } finally {
    if (isKept) await giveBack(deps, job, found);
  }
}

/** Leases the job, once no other process looks it up; undefined if it has ended. */
async function claimOpen(deps: VideoDependencies, { id }: StoredVideo): Promise<LeasedJob | undefined> {
  const { jobs, videos, environment, ticker } = deps;
  const giveUpAt = ticker.now() + ASK_MS_MAX;
  for (;;) {
    const job = await jobs.claim(id, videoLease(deps, 2 * CLAIM_MS), environment.clock());
    if (job !== undefined) return job;
    const video = await videos.find(id);
    if (video === undefined || isEnded(video.state)) return undefined;
    if (ticker.now() >= giveUpAt) {
      throw new GatewayError("storage_unavailable", "The video job is being looked up: try again.");
    }
    await ticker.pause(CLAIM_AGAIN_MS);
  }
}

/** The job as it is now, or as it was seen last if the upstream does not answer. */
async function lookUp(deps: VideoDependencies, job: LeasedJob, before: StoredVideo): Promise<StoredVideo> {
  try {
    await followVideo(deps, job, { isAsked: true });
  } catch (reason) {
    noteFailedLook(deps, job.id, reason);
  }
  return (await deps.videos.find(job.id)) ?? before;
}

/** Returns the lease; the job goes on. */
async function giveBack({ jobs, environment }: VideoDependencies, job: LeasedJob, video: StoredVideo): Promise<void> {
  const at = environment.clock();
  await jobs.reschedule(job, { runAt: at + pauseAfter(at - video.createdAt), attempts: 0 });
}

function askToDelete(deps: VideoDependencies, video: StoredVideo): Promise<ApiAnswer | FailedReply> {
  const { id, videoId = "", keyId } = video;
  return askApi(deps, {
    target: jobsOf(routeOf(deps, video)).target,
    method: "DELETE",
    subpath: `/${encodeURIComponent(videoId)}`,
    pinnedKeyId: keyId,
    workId: id,
    totalMsMax: ASK_MS_MAX,
  });
}

/** An ended job has been charged. One that the upstream does not have any more is deleted as well. */
async function deleteEnded(deps: VideoDependencies, video: StoredVideo, lookup: VideoLookup): Promise<Response> {
  const reply = await askToDelete(deps, video);
  if (reply.kind === "failed" && reply.status !== 404) return refused(deps, video, reply);
  await deps.videos.remove(video.id);
  return deleted(deps, { video, lookup }, video.credits ?? 0n);
}

function refused(deps: VideoDependencies, video: StoredVideo, { body, status, headers }: FailedReply): Response {
  return new Response(body, { status, headers: relayedErrorHeaders(headers, routeOf(deps, video)) });
}

function deleted(
  deps: VideoDependencies,
  { video: { id, provider, videoId }, lookup }: { video: StoredVideo; lookup: VideoLookup },
  credits: Nano,
): Response {
  const answer = lookup.isOwn === true ? {} : { id: videoId, object: "video.deleted", deleted: true };
  return Response.json(answer, { headers: headersOf(deps, { id, provider, credits }) });
}
