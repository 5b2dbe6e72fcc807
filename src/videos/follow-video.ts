/** Follows a video job at its upstream: asks for its state, and ends its work once. */
import { charged, failedEnd, keepAnswer, resumeWork, type ParkedWork } from "../charges/index.ts";
import { formatCredits, limits, type Nano, type WorkBound } from "../core/index.ts";
import { type Job, type JobLease, type JobResult, newLease, runClaimed } from "../jobs/index.ts";
import type { VideoState } from "../providers/index.ts";
import type { FailedReply } from "../sending/index.ts";
import { askApi, jobsOf } from "./ask-api.ts";
import type { StoredVideo } from "./store.ts";
import type { VideoDependencies } from "./video-dependencies.ts";
import { createdAnswer } from "./video-object.ts";

/** The time for one question about a job. */
export const ASK_MS_MAX = 30_000;

/** How long a caller waits for what a job is now; then it gets what is known. */
const FRESH_MS_MAX = 2_000;

/** A caller's own question must end while its lease runs. */
export const CLAIM_MS = 2 * ASK_MS_MAX;

/** The pause between two questions in the background: a tenth of the job's age, within these. */
const PAUSE_MS_MIN = 5_000;
const PAUSE_MS_MAX = 30_000;

/** An upstream that does not know a job may not know it yet. */
const UNKNOWN_MS_MAX = 10 * 60_000;

/** How long a job's hold outlives the job: an upstream or a gateway may be down for so long. */
export const OVERDUE_MS_MAX = 24 * 3_600_000;

/** What a job's row contains. */
export interface VideoJobPayload {
  parked: ParkedWork;
  /** The job is lost if it has not ended by then, in milliseconds since the epoch. */
  until: number;
  /** Whether the answer to the creation is kept for the retry key; absent in jobs whose process may have died before. */
  isAnswered?: true;
  /** Whether its client reads the provider's own shape. */
  isOwn?: boolean;
  [member: string]: unknown;
}

export const isEnded = ({ status }: VideoState): boolean => status === "completed" || status === "failed";

export function pauseAfter(ageMs: number): number {
  return Math.min(Math.max(ageMs / 10, PAUSE_MS_MIN), PAUSE_MS_MAX);
}

/** A lease for one step of a job outside of the runner. */
export function videoLease({ environment, node }: VideoDependencies, milliseconds: number): JobLease {
  return newLease({ randomBytes: environment.randomBytes, node }, environment.clock() + milliseconds);
}

/**
 * Brings a record up to date for a caller, unless the upstream was just asked or another process is asking it. An
 * upstream that can't be reached changes nothing, and one that takes longer than `waitMs` goes on being asked meanwhile.
 */
export async function refreshVideo(
  deps: VideoDependencies,
  video: StoredVideo,
  waitMs: number = FRESH_MS_MAX,
): Promise<StoredVideo> {
  const { clock } = deps.environment;
  const { videos, polls, router, ticker } = deps;
  const api = router.routes.find(({ prefix }) => prefix === video.provider)?.provider.videos;
  if (api === undefined || isEnded(video.state) || clock() - video.polledAt < api.pollMsMin) return video;
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const over = new AbortController();
  const cancel = ticker.after(waitMs, () => {
    over.abort(new Error("the caller waits no longer"));
    resolve();
  });
  const asked = polls.begin((stopped) => ask(deps, video, { stopped, wait: AbortSignal.any([stopped, over.signal]) }));
  await Promise.race([asked, late]);
  cancel();
  return (await videos.find(video.id)) ?? video;
}

interface Asking {
  /** Aborted when the process stops. */
  stopped: AbortSignal;
  /** Aborted also when no caller waits for a place any longer. */
  wait: AbortSignal;
}

/** Asks once a place is free, and stores what it finds. Never rejects. */
async function ask(deps: VideoDependencies, video: StoredVideo, { stopped, wait }: Asking): Promise<void> {
  const { polls, jobs, environment } = deps;
  const onError = (reason: unknown): void => noteFailedLook(deps, video.id, reason);
  let leave: () => void;
  try {
    leave = await polls.places.enter({ owner: video.owner, upstream: video.provider, signal: wait });
  } catch {
    // The runner asks later.
    return;
  }
  try {
    const claim = { jobs, clock: environment.clock, lease: videoLease(deps, CLAIM_MS), onError };
    await runClaimed(claim, video.id, (job) => followVideo(deps, job, { isAsked: true, signal: stopped }));
  } catch (reason) {
    onError(reason);
  } finally {
    leave();
  }
}

/** The next look may succeed. */
export function noteFailedLook({ logger }: VideoDependencies, id: string, reason: unknown): void {
  logger.warn({ request_id: id, reason: String(reason) }, "a video job could not be looked up");
}

interface FollowOptions {
  /** Its abort ends the look. */
  signal?: AbortSignal;
  /** Whether a caller waits for it. */
  isAsked?: boolean;
}

/**
 * One look at a job, which must be leased by this process. Idempotent: a process that dies after the charge leaves a
 * job whose next look finds the same end, and charges nothing again. Throws if the upstream gave no answer.
 */
export async function followVideo(
  deps: VideoDependencies,
  job: Pick<Job, "id" | "payload">,
  { signal, isAsked = false }: FollowOptions = {},
): Promise<JobResult> {
  const { videos, environment, router, polls } = deps;
  const before = job.payload as VideoJobPayload;
  const video = await videos.find(job.id);
  if (video?.videoId === undefined) {
    // The process died before it had the upstream's answer. Without a record the upstream was not even asked, or the work has
    // ended before.
    if (video === undefined) await resumeWork(deps.work, before.parked).end(failedEnd(undefined));
    else await endLost(deps, before, video);
    return { done: true };
  }
  const payload = before.isAnswered ? before : await keepCreated(deps, before, video);
  const at = environment.clock();
  const route = router.routes.find(({ prefix }) => prefix === video.provider);
  if (route === undefined || route.requiredVariable !== undefined) {
    throw new Error(`the provider ${video.provider} of a video job is not routed any more`);
  }
  const { target, api } = jobsOf(route);
  const question = askApi(deps, {
    target,
    method: "GET",
    subpath: `/${encodeURIComponent(video.videoId)}`,
    pinnedKeyId: video.keyId,
    workId: video.id,
    totalMsMax: ASK_MS_MAX,
    signal,
  });
  const reply = await polls.note(video.provider, question);
  const { bound } = payload.parked;
  const seen =
    reply.kind === "failed"
      ? unseen(reply, video, { at, bound })
      : { answer: reply.json, state: api.readJob(reply.json, { operation: video.operation, bound }, at) };
  if (seen === undefined) return waitMore(deps, { video, payload, at });
  const { state, answer } = seen;
  if (isEnded(state)) {
    await endVideo(deps, payload, { ...video, state, answer });
    return { done: true };
  }
  // Of ten thousand jobs most have not moved. Callers may ask in any loop: for them the moment counts.
  if (isAsked || !Bun.deepEquals(answer, video.answer)) {
    // Another time than the creation's, also within its millisecond: by that, a deletion knows that the job was seen.
    const polledAt = Math.max(at, video.polledAt + 1);
    await videos.seen(video.id, { state, answer, credits: undefined, polledAt, keptUntil: video.keptUntil });
  }
  return waitMore(deps, { video, payload, at });
}

/** The record has not changed since the creation: this is the first look. */
async function keepCreated(
  deps: VideoDependencies,
  payload: VideoJobPayload,
  video: StoredVideo,
): Promise<VideoJobPayload> {
  await keepAnswer(
    deps.work,
    payload.parked,
    createdAnswer(video, payload.parked, deps.publicUrl, payload.isOwn === true),
  );
  return { ...payload, isAnswered: true };
}

/**
 * A job that its upstream does not know, after a while; undefined for one that may still be found. If it had begun, the
 * upstream may bill it. Throws for other failures.
 */
function unseen(
  { status }: FailedReply,
  { createdAt, answer, provider, state: before }: StoredVideo,
  { at, bound }: { at: number; bound: WorkBound },
): Pick<StoredVideo, "state" | "answer"> | undefined {
  if (status !== 404 && status !== 410) throw new Error(`${provider} answered ${status}`);
  if (at - createdAt < UNKNOWN_MS_MAX) return undefined;
  const error = { code: "not_found", message: "The provider does not know this job any more." };
  const observed = before.status === "queued" ? undefined : mostOf(bound);
  return { state: { status: "failed", urls: [], error, observed }, answer };
}

interface Waiting {
  video: StoredVideo;
  payload: VideoJobPayload;
  at: number;
}

/** The job goes on, or has taken longer than any does: then the upstream may bill it, and it costs what is held. */
async function waitMore(deps: VideoDependencies, { video, payload, at }: Waiting): Promise<JobResult> {
  if (at < payload.until) return { again: payload, afterMs: pauseAfter(at - video.createdAt) };
  await endOverdue(deps, payload, video);
  return { done: true };
}

/** Ends a job that cannot be followed any longer. */
export async function endOverdue(deps: VideoDependencies, payload: VideoJobPayload, video: StoredVideo): Promise<void> {
  const error = { code: "expired", message: "The provider did not finish this job in time." };
  const observed = mostOf(payload.parked.bound);
  await endVideo(deps, payload, { ...video, state: { status: "failed", urls: [], error, observed } });
}

function mostOf({ outputVideo, inputUnits }: WorkBound): VideoState["observed"] {
  const { usage, variant } = outputVideo ?? {};
  return { usage: { ...usage, ...inputUnits, requests: 1 }, ...(variant && { variant }) };
}

/** Charges or releases, then notes the end. */
async function endVideo(deps: VideoDependencies, { parked }: VideoJobPayload, video: StoredVideo): Promise<void> {
  const { videos, environment, storedObjects, router, notifier } = deps;
  const { state, answer } = video;
  const { observed, status, fileId } = state;
  const work = resumeWork(deps.work, parked);
  const outcome = status === "completed" ? "complete" : "failed";
  const credits = await charged(work, { status: 200, outcome, observed });
  const route = router.routes.find(({ prefix }) => prefix === video.provider);
  if (fileId !== undefined && route !== undefined && video.keyId !== undefined) {
    const caller = { principal: { user: video.owner }, route };
    const kept = { keyId: video.keyId, ttlMs: limits.responseTtlMs };
    await storedObjects.record([{ kind: "file", id: fileId }], caller, kept);
  }
  const at = environment.clock();
  await videos.seen(video.id, { state, answer, credits, polledAt: at, keptUntil: at + limits.videoTtlMs });
  await notifier.ended({ ...video, credits });
}

/**
 * Ends a job that its upstream has deleted before its end, with the state that was seen last: a queued one has cost nothing,
 * and one that had begun costs all that it may have used. Resolves with the charge. Rejects if it could not be written.
 */
export function endDeleted(deps: VideoDependencies, { parked }: VideoJobPayload, video: StoredVideo): Promise<Nano> {
  const observed = video.state.status === "queued" ? undefined : mostOf(parked.bound);
  return charged(resumeWork(deps.work, parked), { status: 200, outcome: "abandoned", observed });
}

/** Ends work whose creation has no answer. The upstream may have done it, and the operator may owe it. */
export async function endLost(
  deps: VideoDependencies,
  { parked }: VideoJobPayload,
  video: StoredVideo,
  thrown?: unknown,
): Promise<void> {
  const unbilled = mostOf(parked.bound);
  const { provider, modelId: model } = parked.source;
  deps.logger.warn(
    { request_id: parked.id, provider, model, unbilled: formatCredits(BigInt(parked.held)) },
    "a video job was lost before its id was known",
  );
  const work = resumeWork(deps.work, parked);
  await work.end({ ...failedEnd(thrown), unbilled });
  await deps.videos.remove(video.id);
}
