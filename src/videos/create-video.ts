/**
 * Creates a video job. Its work is opened and parked before the upstream is asked, and the answer's id is stored before
 * the client gets it:
 *
 *   (receive) → resolve → bound → (hold) → park with the job's row → its record → send → the record gets id and key
 *     → the answer is kept for the retry key → answer
 *
 * The job's row is leased by this process, which renews the short lease until the upstream has answered. If the process
 * dies before, the lease runs out, and any process ends the work: hold and retry key are free again. One that dies after
 * leaves a record, from which the runner keeps the answer.
 */
import type { Principal } from "../auth/index.ts";
import {
  decodeBody,
  type FormDeclaration,
  isForm,
  parseBody,
  type ParsedBody,
  type ReceivedBody,
} from "../bodies/index.ts";
import {
  failedEnd,
  keepAnswer,
  type PaidAnswer,
  type PaidRequest,
  type Planning,
  resumeWork,
  type RunningWork,
  type WayOfWork,
  type WorkOrder,
  type WorkPlan,
} from "../charges/index.ts";
import {
  formatCredits,
  GatewayError,
  isStorableId,
  type JsonObject,
  limits,
  objectOf,
  type ObjectReference,
  type UsageBucket,
  type VideoOperation,
} from "../core/index.ts";
import { keepLease, type LeasedJob, type LeaseKeeping, renewLease } from "../jobs/index.ts";
import type { UpstreamRequestBody, VideoInput, VideoSource } from "../providers/index.ts";
import { requirePrices, type Target } from "../routing/index.ts";
import {
  type FailedReply,
  relayedErrorHeaders,
  relayedHeaders,
  repeatRuleOf,
  type UpstreamBody,
} from "../sending/index.ts";
import { type ApiAnswer, askApi, jobsOf } from "./ask-api.ts";
import { endLost, videoLease, OVERDUE_MS_MAX, pauseAfter, type VideoJobPayload } from "./follow-video.ts";
import type { StoredVideo } from "./store.ts";
import { VIDEO_JOB, type VideoDependencies } from "./video-dependencies.ts";
import { createdAnswer } from "./video-object.ts";
import { videoBodyOf, videoFormOf, type VideoRequest } from "./video-request.ts";

/** The pause before the storage is asked again. */
const STORE_AGAIN_MS = 500;

/** How long a storage that cannot write the upstream's answer is asked again: within the lease of the job's row. */
const WRITES_MS_MAX = 30_000;

interface VideoPlan extends WorkPlan {
  operation: VideoOperation;
  target: Target;
  source: StoredVideo | undefined;
  pinnedKeyId: string | undefined;
  body: VideoRequest;
  upstreamBody: UpstreamBody;
  bound: ReturnType<NonNullable<Target["operation"]["video"]>["bound"]>;
}

/** Throws a `GatewayError` for what is refused; an upstream's refusal is relayed. */
export function createVideo(
  deps: VideoDependencies,
  operation: VideoOperation,
  request: PaidRequest,
): Promise<PaidAnswer> {
  return deps.shell.run(request, new VideoCreation(deps, operation, request));
}

class VideoCreation implements WayOfWork<VideoRequest, VideoPlan, Target> {
  readonly surface = "openai";
  readonly operation: VideoOperation;
  readonly form: FormDeclaration<VideoRequest> | undefined;
  readonly #deps: VideoDependencies;
  readonly #request: PaidRequest;

  constructor(deps: VideoDependencies, operation: VideoOperation, request: PaidRequest) {
    this.#deps = deps;
    this.#request = request;
    this.operation = operation;
    this.form = isForm(request.headers) ? { body: videoFormOf(operation), sound: false } : undefined;
  }

  parse(bytes: Uint8Array): ParsedBody<VideoRequest> {
    return parseBody(bytes, videoBodyOf(this.operation), []);
  }

  async plan(received: ReceivedBody<VideoRequest>, { retry, target }: Planning<Target>): Promise<VideoPlan> {
    const { requestId: id, principal } = this.#request;
    const planned = await plan(this.#deps, { operation: this.operation, principal, received, other: target });
    const {
      target: { route, model, modelId, price, priceOf },
      bound,
    } = planned;
    const order: WorkOrder = {
      id,
      principal,
      operation: this.operation,
      dialect: undefined,
      source: { provider: route.prefix, model, modelId },
      price,
      priceOf,
      bound: { inputTokens: 0, outputTokens: 0, choices: 1, ...bound },
      streamed: false,
      retry,
      at: this.#deps.environment.clock(),
    };
    // A job is not ended by its client.
    return { ...planned, order, clientGoneGraceMs: Number.POSITIVE_INFINITY };
  }

  run(running: RunningWork<VideoPlan, Target>, planned: VideoPlan): Promise<PaidAnswer> {
    return perform(this.#deps, this.#request, running, planned);
  }
}

interface Asked {
  operation: VideoOperation;
  principal: Principal;
  received: ReceivedBody<VideoRequest>;
  /** Instead of the target that the request names. */
  other: Target | undefined;
}

async function plan(
  deps: VideoDependencies,
  { operation, principal, received, other }: Asked,
): Promise<Omit<VideoPlan, keyof WorkPlan>> {
  const { router, storedObjects, environment, notifier } = deps;
  const isFormBody = received.kind === "form";
  const body: JsonObject = isFormBody ? received.body : decodeBody(received);
  const input: VideoInput = { body, files: isFormBody ? received.files : [], isForm: isFormBody };
  refuseTwoSources(input);
  const source = await sourceOf(deps, principal, body);
  const modelId = received.body.model ?? (source && `${source.provider}/${source.model}`);
  if (modelId === undefined) throw new GatewayError("validation_failed", "model: Required", { param: "model" });
  const target = other ?? router.resolve(modelId, [operation], principal);
  if (source !== undefined && source.provider !== target.route.prefix) throw noVideo("video");
  const requests = target.operation.video;
  if (requests === undefined) throw new Error(`${target.route.prefix} has a video operation without requests`);
  const references = requests.references(body);
  const draft = await ownVideos(deps, principal, references, target.route.prefix);
  const others = references.filter(({ kind }) => kind !== "video");
  const pinned = await storedObjects.authorize(others, { principal, route: target.route });
  const webhookUrl = received.body.webhook_url ?? undefined;
  if (webhookUrl !== undefined) await notifier.check(webhookUrl, principal.user);
  const known = source && knownOf(source);
  const bound = requests.bound(input, target.model, known);
  // The keys of a usage are buckets.
  const units = Object.keys(bound.outputVideo.usage) as UsageBucket[];
  requirePrices(target, { ...bound, ownPrices: units });
  const upstream = await requests.toUpstream(input, known);
  return {
    operation,
    target,
    source,
    pinnedKeyId: source?.keyId ?? draft?.keyId ?? pinned,
    body: received.body,
    bound,
    upstreamBody: bodyOf(upstream, target, received, environment),
  };
}

function knownOf({ videoId = "", state, requested }: StoredVideo): VideoSource {
  return { id: videoId, seconds: state.seconds ?? requested.seconds, url: state.urls[0] };
}

/** One of an upload and an earlier video would be priced, and perhaps the other one made. */
function refuseTwoSources({ body, files }: VideoInput): void {
  if (!files.some(({ field }) => field === "video") || (body["video"] ?? body["video_id"] ?? undefined) === undefined)
    return;
  throw new GatewayError(
    "validation_failed",
    "video: is both a file and the id of an earlier video: send one of them.",
    {
      param: "video",
    },
  );
}

/** The caller's own video that the request builds on. Throws 404 for any other. */
async function sourceOf(
  deps: VideoDependencies,
  principal: Principal,
  body: JsonObject,
): Promise<StoredVideo | undefined> {
  const video = objectOf(body["video"]);
  const id = video?.["id"] ?? (isAddress(body["video"]) ? undefined : body["video"]) ?? body["video_id"];
  // An address, or a file that the upstream stores.
  if (id === video) return undefined;
  if (id === undefined || id === null) return undefined;
  const found = typeof id === "string" ? await ownVideo(deps, principal, id) : undefined;
  if (found === undefined) throw noVideo(video === undefined ? "video" : "video.id");
  return found;
}

function isAddress(value: unknown): boolean {
  return typeof value === "string" && /^(?:https?|data):/i.test(value);
}

async function ownVideo(
  { videos }: VideoDependencies,
  { user, service }: Principal,
  id: string,
): Promise<StoredVideo | undefined> {
  const found = isStorableId(id) ? await videos.findByVideoId(id) : [];
  return found.find(({ owner }) => service || owner === user);
}

/** The first of the videos that a body refers to, all of which must be the caller's own. */
async function ownVideos(
  deps: VideoDependencies,
  principal: Principal,
  references: readonly ObjectReference[],
  provider: string,
): Promise<StoredVideo | undefined> {
  let first: StoredVideo | undefined;
  for (const { kind, id, param } of references) {
    if (kind !== "video") continue;
    const found = await ownVideo(deps, principal, id);
    if (found === undefined || found.provider !== provider) throw noVideo(param);
    first ??= found;
  }
  return first;
}

function noVideo(param: string): GatewayError {
  return new GatewayError("object_not_found", `${param}: there is no such video of yours.`, { param });
}

function bodyOf(
  { json, form }: UpstreamRequestBody,
  { model }: Target,
  received: ReceivedBody<VideoRequest>,
  { randomBytes }: VideoDependencies["environment"],
): UpstreamBody {
  if (json !== undefined) return JSON.stringify("model" in json ? { ...json, model } : json);
  if (form === undefined || received.kind !== "form") throw new Error("a video request without a body");
  const fields = form.map((field) => {
    if ("file" in field) return { name: field.name, file: received.partOf(field.file) };
    return field.name === "model" ? { ...field, text: model } : field;
  });
  return received.form.composed(fields, randomBytes);
}

async function perform(
  deps: VideoDependencies,
  { principal, headers }: PaidRequest,
  running: RunningWork,
  planned: VideoPlan,
): Promise<PaidAnswer> {
  const { videos } = deps;
  const { target, bound, source, body, order } = planned;
  const { id, at } = order;
  const { api } = jobsOf(target.route);
  const video: StoredVideo = {
    id,
    videoId: undefined,
    provider: target.route.prefix,
    keyId: undefined,
    owner: principal.user,
    accountId: principal.accountId,
    model: target.model,
    operation: planned.operation,
    sourceId: source?.videoId,
    webhookUrl: body.webhook_url ?? undefined,
    requested: requestedIn(body, bound),
    state: { status: "queued", urls: [] },
    answer: {},
    credits: undefined,
    createdAt: at,
    polledAt: at,
    keptUntil: at + api.jobMsMax + limits.videoTtlMs,
  };
  const until = at + api.jobMsMax;
  const lease = videoLease(deps, limits.videoLeaseMs);
  const job = await parkIn(
    { id, kind: VIDEO_JOB, owner: principal.user, runAt: at, createdAt: at, lease },
    running,
    until,
  );
  const { held } = job.payload.parked;
  const sending = { ...planned, video, job, headers, held: formatCredits(BigInt(held)) };
  try {
    await videos.insert(video);
  } catch (thrown) {
    await giveUp(deps, sending, { thrown, isSent: false });
    throw thrown;
  }
  return send(deps, sending);
}

/** A job leased by this process, before its upstream has answered. */
interface NewVideoJob extends LeasedJob {
  payload: VideoJobPayload;
}

async function parkIn(
  row: Omit<NewVideoJob, "payload" | "attempts">,
  running: RunningWork,
  until: number,
): Promise<NewVideoJob> {
  let job: NewVideoJob | undefined;
  await running.park(until + OVERDUE_MS_MAX, (parked) => (job = { ...row, attempts: 0, payload: { parked, until } }));
  if (job === undefined) throw new Error("parked without a job");
  return job;
}

/** What the answer says of the video before the upstream does. */
function requestedIn({ size }: VideoRequest, { outputVideo }: VideoPlan["bound"]): StoredVideo["requested"] {
  const { outputVideoMs } = outputVideo.usage;
  return {
    seconds: outputVideoMs === undefined ? undefined : outputVideoMs / 1_000,
    size: typeof size === "string" ? size : undefined,
  };
}

interface Sending extends VideoPlan {
  video: StoredVideo;
  job: NewVideoJob;
  headers: Headers;
  held: string;
}

async function send(deps: VideoDependencies, sending: Sending): Promise<PaidAnswer> {
  const stopKeeping = keepLease(keepingOf(deps, sending.job), sending.job);
  try {
    return await ask(deps, sending);
  } finally {
    stopKeeping();
  }
}

/** If this process dies, another one soon takes the job for lost, and frees its hold and its retry key. */
function keepingOf({ jobs, ticker, environment, logger }: VideoDependencies, { id }: NewVideoJob): LeaseKeeping {
  const onError = (reason: unknown): void =>
    logger.warn({ request_id: id, reason: String(reason) }, "the lease of a video job could not be renewed yet");
  return { jobs, ticker, clock: environment.clock, leaseMs: limits.videoLeaseMs, onError };
}

async function ask(deps: VideoDependencies, sending: Sending): Promise<PaidAnswer> {
  const { target, upstreamBody: body, pinnedKeyId, video, headers, held } = sending;
  let isSent = false;
  let reply: ApiAnswer | FailedReply;
  try {
    reply = await askApi(deps, {
      target,
      body,
      pinnedKeyId,
      clientHeaders: headers,
      workId: video.id,
      repeats: repeatRuleOf(video.operation),
      work: { noteSent: (sent) => void (isSent = sent), lostCredits: () => held },
      totalMsMax: deps.send.totalMsMax,
    });
  } catch (thrown) {
    await giveUp(deps, sending, { thrown, isSent });
    throw thrown;
  }
  if (reply.kind === "failed") return refused(deps, sending, reply);
  return created(deps, sending, reply);
}

/** The upstream was not reached, or its answer is lost: in that case it may have created the job. */
async function giveUp(
  deps: VideoDependencies,
  { video, job }: Sending,
  { thrown, isSent }: { thrown: unknown; isSent: boolean },
): Promise<void> {
  const { payload } = job;
  if (isSent) await endLost(deps, payload, video, thrown);
  else {
    await resumeWork(deps.work, payload.parked).end(failedEnd(thrown));
    await deps.videos.remove(video.id);
  }
  await deps.jobs.finish(job);
}

/** An upstream's own refusal is relayed, and nothing is charged. */
async function refused(
  deps: VideoDependencies,
  { video, job, target }: Sending,
  { status, headers, body }: FailedReply,
): Promise<PaidAnswer> {
  const { parked } = job.payload;
  await resumeWork(deps.work, parked).end({ status, outcome: "failed" });
  await deps.videos.remove(video.id);
  await deps.jobs.finish(job);
  return { status, headers: relayedErrorHeaders(headers, target.route), body };
}

async function created(
  deps: VideoDependencies,
  sending: Sending,
  { json, keyId, headers }: ApiAnswer,
): Promise<PaidAnswer> {
  const { environment, videos, jobs } = deps;
  const { target, video, job, held } = sending;
  const { api } = jobsOf(target.route);
  const videoId = api.readId(json);
  const { parked } = job.payload;
  const at = environment.clock();
  // A job that its upstream has already ended is charged by its first look.
  const { status, ...seen } = api.readJob(json, { operation: video.operation, bound: parked.bound }, at);
  const state = { ...seen, status: status === "completed" || status === "failed" ? "in_progress" : status } as const;
  const known: StoredVideo = { ...video, videoId, keyId, state, answer: json, polledAt: at };
  const answer = createdAnswer(known, deps.publicUrl);
  // A process that was paused, or cut off from the storage, may have been taken for dead.
  if (!(await storeAnswer(deps, () => renewLease(keepingOf(deps, job), job)))) {
    throw new GatewayError("storage_unavailable", "The job could not be stored in time, and has been given up.");
  }
  const stored = { videoId, keyId, state, answer: json, polledAt: at };
  const isNamed = videoId !== undefined && isStorableId(videoId);
  if (!isNamed || !(await storeAnswer(deps, () => videos.created(video.id, stored)))) {
    const error = new GatewayError("upstream_invalid_answer", "The upstream did not name the video job.");
    await giveUp(deps, sending, { thrown: error, isSent: true });
    throw error;
  }
  try {
    await storeAnswer(deps, () => keepAnswer(deps.work, parked, answer));
    await jobs.reschedule(job, {
      runAt: at + pauseAfter(0),
      attempts: 0,
      payload: { ...job.payload, isAnswered: true },
    });
  } catch (reason) {
    // The lease runs out, and the job goes on then. Its client must not order the video again.
    deps.logger.warn({ request_id: video.id, reason: String(reason) }, "a video job will be looked up late");
  }
  return {
    status: 200,
    headers: {
      ...relayedHeaders(headers, target.route),
      "content-type": "application/json",
      "x-tollgate-credits": formatCredits(0n),
      "x-tollgate-credits-held": held,
    },
    body: answer.body,
  };
}

/** The upstream has created the job: a storage that fails is asked again. */
async function storeAnswer<T>({ ticker, logger }: VideoDependencies, store: () => Promise<T>): Promise<T> {
  const giveUpAt = ticker.now() + WRITES_MS_MAX;
  for (;;) {
    try {
      return await store();
    } catch (reason) {
      if (ticker.now() >= giveUpAt) throw reason;
      logger.warn({ reason: String(reason) }, "the answer to the creation of a video job could not be stored yet");
      await ticker.pause(STORE_AGAIN_MS);
    }
  }
}
