import { type JsonObject, listOf, objectOf, type ObservedUsage } from "../../core/index.ts";
import type { CallInput, UpstreamOperation, UpstreamRequestBody } from "../provider.ts";
import { textOf } from "../shared/json.ts";
import { refusal } from "../shared/refusal.ts";
import {
  billedMs,
  dataUrlOf,
  fieldsWithout,
  fitSize,
  inputReference,
  isAuto,
  mediaReferences,
  readSeconds,
  readSize,
  referenceOf,
  refuseDelivery,
} from "../shared/video-fields.ts";
import type {
  AskedVideo,
  OwnVideoShape,
  VideoApi,
  VideoBound,
  VideoRequests,
  VideoSource,
  VideoState,
} from "../video-api.ts";
import { reportedMediaCost } from "./cost.ts";

/** What xAI makes (`docs/wire/xai.md`, "Videos"). */
const sizes = {
  resolutions: ["480p", "720p", "1080p"],
  ratios: ["1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3"],
};
const RESOLUTION_DEFAULT = "480p";
const SECONDS_DEFAULT = 8;
const EXTENSION_SECONDS_DEFAULT = 6;
/** An edit keeps the length of its input, which may be 8.7 seconds. */
const EDIT_MS_MAX = 8_700;

const HOUR_MS = 3_600_000;
const LINK_MS = 24 * HOUR_MS;

/** OpenAI's fields in xAI's terms. A field of xAI's own wins. */
async function generated(input: CallInput): Promise<UpstreamRequestBody> {
  const { body } = input;
  refuseDelivery(body, "output.upload_url");
  refuseDelivery(body, "callback_url");
  const { size: _size, seconds: _seconds, input_reference: _reference, ...own } = fieldsWithout(body, []);
  const size = readSize(body["size"]);
  const fitted = size && fitSize(size, sizes);
  const seconds = readSeconds(body["seconds"], "seconds");
  const reference = inputReference(input);
  return {
    json: {
      ...(fitted && { aspect_ratio: fitted.ratio, resolution: fitted.resolution }),
      ...(seconds !== undefined && { duration: seconds }),
      ...(reference && { image: await referenceOf(reference) }),
      ...own,
    },
  };
}

/** An edit or an extension: its video is an address, a file, or an earlier video of the caller. */
async function changed(input: CallInput, source: VideoSource | undefined): Promise<UpstreamRequestBody> {
  const { body } = input;
  refuseDelivery(body, "output.upload_url");
  refuseDelivery(body, "callback_url");
  const { seconds: _seconds, video_id: _id, video: given, ...own } = fieldsWithout(body, []);
  const seconds = readSeconds(body["seconds"], "seconds");
  const uploaded = await dataUrlOf(input, "video");
  const video = source === undefined ? (uploaded === undefined ? given : { url: uploaded }) : { url: urlIn(source) };
  if (video === undefined)
    throw refusal("video", "expected the video: its address, a file, or the id of an earlier one.");
  return { json: { ...(seconds !== undefined && { duration: seconds }), ...own, video } };
}

function urlIn({ url }: VideoSource): string {
  if (url !== undefined) return url;
  throw refusal("video", "this video can't be downloaded (any more), so nothing can be made from it.");
}

/** The images that are sent along, each of which has a price. */
function inputImages({ body, files }: CallInput): number {
  const single = ["image", "last_frame", "input_reference"].filter((name) => {
    const value = body[name];
    return value !== undefined && value !== null;
  });
  const lists = ["reference_images", "keyframes"].map((name) => listOf(body[name]).length);
  const uploaded = files.filter(({ field }) => field !== "video").length;
  return lists.reduce((sum, length) => sum + length, single.length + uploaded);
}

function boundOf(milliseconds: number, resolution: string | undefined, images: number): VideoBound {
  return {
    outputVideo: {
      usage: { outputVideoMs: milliseconds },
      variant: resolution === undefined ? undefined : { size: resolution },
    },
    ...(images > 0 && { inputUnits: { inputImages: images } }),
  };
}

/** Undefined if the provider chooses: then the most expensive one is held. */
function resolutionIn(body: JsonObject): string | undefined {
  const own = textOf(body["resolution"]);
  if (isAuto(own ?? body["size"])) return undefined;
  if (own !== undefined) return own;
  const size = readSize(body["size"]);
  return size === undefined ? RESOLUTION_DEFAULT : fitSize(size, sizes).resolution;
}

const secondsIn = (body: JsonObject): number | undefined =>
  readSeconds(body["duration"], "duration") ?? readSeconds(body["seconds"], "seconds");

const references = (body: JsonObject) =>
  mediaReferences(body, [
    "image",
    "input_reference",
    "last_frame",
    "keyframes",
    "reference_images",
    "reference_audios",
    "video",
  ]);

const generation: VideoRequests = {
  toUpstream: generated,
  bound: (input) => {
    const { body } = input;
    const seconds = secondsIn(body) ?? SECONDS_DEFAULT;
    return boundOf(seconds * 1_000, resolutionIn(body), inputImages(input));
  },
  references,
};

/** The resolution is that of the source. */
const edit: VideoRequests = { toUpstream: changed, bound: () => boundOf(EDIT_MS_MAX, undefined, 0), references };

const extension: VideoRequests = {
  toUpstream: changed,
  bound: ({ body }) => boundOf((secondsIn(body) ?? EXTENSION_SECONDS_DEFAULT) * 1_000, undefined, 0),
  references,
};

function operationOf(path: string, video: VideoRequests): UpstreamOperation {
  return { path, edits: () => [], readUsage: () => undefined, isFailure: () => false, video };
}

export const videoGeneration = operationOf("/videos/generations", generation);
export const videoEdit = operationOf("/videos/edits", edit);
export const videoExtension = operationOf("/videos/extensions", extension);

const statuses: Readonly<Record<string, VideoState["status"]>> = {
  pending: "in_progress",
  done: "completed",
  failed: "failed",
  expired: "failed",
};

/** Until it is looked up, its provider has told its id alone. */
const ownShape: OwnVideoShape = {
  job({ request_id: _id, ...answer }, { status, error }) {
    const isEndedHere = status === "failed" && (answer["status"] ?? "pending") === "pending";
    if (isEndedHere) return { ...answer, status: "failed", error };
    return { status: status === "completed" ? "done" : "pending", ...answer };
  },
  status: ({ status }) => (status === "completed" || status === "failed" ? 200 : 202),
};

export const videos: VideoApi = {
  path: "/videos",
  ownShape,
  // All that are not of another provider's kind.
  isOwnId: (id) => !id.startsWith("video_") && !id.startsWith("cgt-"),
  readId: ({ request_id }) => textOf(request_id),
  readJob(answer, asked, at) {
    const video = objectOf(answer["video"]);
    const url = textOf(video?.["url"]);
    // Answers of an older version have no status, and one that waits may have no body.
    const named = textOf(answer["status"]) ?? (url === undefined ? "pending" : "done");
    const isBlocked = named === "done" && url === undefined;
    const status = isBlocked ? "failed" : (statuses[named] ?? "in_progress");
    const error = objectOf(answer["error"]);
    const fallback = isBlocked
      ? { code: "moderation_blocked", message: "The video was withheld by the provider's moderation." }
      : { code: named, message: `The job is ${named}.` };
    const seconds = video?.["duration"];
    const isEnded = status === "completed" || status === "failed";
    const length = typeof seconds === "number" && seconds > 0 ? seconds : undefined;
    return {
      status,
      progress: typeof answer["progress"] === "number" ? answer["progress"] : undefined,
      urls: url === undefined ? [] : [url],
      error:
        status === "failed"
          ? {
              code: textOf(error?.["code"]) ?? fallback.code,
              message: textOf(error?.["message"]) ?? fallback.message,
            }
          : undefined,
      seconds: length,
      completedAt: isEnded ? Math.floor(at / 1_000) : undefined,
      expiresAt: url === undefined ? undefined : Math.floor((at + LINK_MS) / 1_000),
      fileId: textOf(objectOf(video?.["file_output"])?.["file_id"]),
      observed: isEnded
        ? observedIn(answer, asked, { isDelivered: status === "completed", seconds: length })
        : undefined,
    };
  },
  canDelete: false,
  hasContent: false,
  pollMsMin: 2_000,
  jobMsMax: 24 * HOUR_MS,
};

/** xAI's own figure wins, also for a job that failed. Without one, a delivered video of unknown length costs what is held. */
function observedIn(
  { usage: reported }: JsonObject,
  { operation, bound }: AskedVideo,
  { isDelivered, seconds }: { isDelivered: boolean; seconds: number | undefined },
): ObservedUsage | undefined {
  const cost = reportedMediaCost(objectOf(reported) ?? {});
  if (cost === undefined && !isDelivered) return undefined;
  const { usage: { outputVideoMs = 0 } = {}, variant } = bound.outputVideo ?? {};
  const own = seconds === undefined ? undefined : Math.ceil(seconds * 1_000);
  const length = { outputVideoMs: billedMs(operation, outputVideoMs, own) };
  return {
    usage: { ...(isDelivered && length), ...bound.inputUnits, requests: 1 },
    ...(variant && { variant }),
    ...(cost !== undefined && { reportedCost: cost }),
  };
}
