/** The plan of a video job: what its upstream gets, and the most that it can cost. */
import type { Principal } from "../auth/index.ts";
import { decodeBody, type ReceivedBody } from "../bodies/index.ts";
import type { WorkPlan } from "../charges/index.ts";
import {
  GatewayError,
  isStorableId,
  objectOf,
  type ObjectReference,
  type UsageBucket,
  type VideoOperation,
} from "../core/index.ts";
import type { ObjectLookup } from "../objects/index.ts";
import type { UpstreamRequestBody, VideoInput, VideoSource } from "../providers/index.ts";
import { type CallTargets, requirePrices, type Target } from "../routing/index.ts";
import type { UpstreamBody } from "../sending/index.ts";
import type { StoredVideo } from "./store.ts";
import type { VideoDependencies } from "./video-dependencies.ts";
import type { VideoRequest } from "./video-request.ts";

export interface VideoPlan extends WorkPlan {
  operation: VideoOperation;
  /** Whether its client reads the provider's own shape. */
  isOwn: boolean;
  target: Target;
  /** Undefined for a job with one target, and in the plans of the targets after the first. */
  targets?: CallTargets;
  source: StoredVideo | undefined;
  pinnedKeyId: string | undefined;
  body: VideoRequest;
  upstreamBody: UpstreamBody;
  bound: ReturnType<NonNullable<Target["operation"]["video"]>["bound"]>;
}

export interface VideoQuestion {
  operation: VideoOperation;
  principal: Principal;
  received: ReceivedBody<VideoRequest>;
  /** Of a job that may have several targets. */
  lookup?: ObjectLookup | undefined;
}

/** The plan of one target. `source` is the video that the request builds on. */
export async function planVideo(
  deps: VideoDependencies,
  { operation, principal, received, lookup }: VideoQuestion,
  { source, target }: { source: StoredVideo | undefined; target: Target },
): Promise<Omit<VideoPlan, keyof WorkPlan | "isOwn">> {
  const { storedObjects, environment, notifier } = deps;
  if (source !== undefined && source.provider !== target.route.prefix) throw noVideo("video");
  const input = inputOf(received);
  const requests = target.operation.video;
  if (requests === undefined) throw new Error(`${target.route.prefix} has a video operation without requests`);
  const references = requests.references(input.body);
  const draft = await ownVideos(deps, principal, references, target.route.prefix);
  const others = references.filter(({ kind }) => kind !== "video");
  const pinned = await storedObjects.authorize(others, { principal, route: target.route, lookup });
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

function inputOf(received: ReceivedBody<VideoRequest>): VideoInput {
  const isForm = received.kind === "form";
  return { body: isForm ? received.body : decodeBody(received), files: isForm ? received.files : [], isForm };
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
export async function sourceOf(
  deps: VideoDependencies,
  { principal, received }: VideoQuestion,
): Promise<StoredVideo | undefined> {
  const input = inputOf(received);
  refuseTwoSources(input);
  const { body } = input;
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
