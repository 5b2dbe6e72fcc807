import {
  type JsonObject,
  listOf,
  objectOf,
  type ObjectReference,
  type ObservedUsage,
  ReferenceList,
  type WorkBound,
} from "../../core/index.ts";
import type { CallInput, UpstreamOperation, UpstreamRequestBody } from "../provider.ts";
import { urlOf } from "../shared/images/image-sources.ts";
import { countOf, textOf } from "../shared/json.ts";
import { refusal } from "../shared/refusal.ts";
import { askedTier, withTier } from "../shared/terms.ts";
import {
  fieldsWithout,
  fitSize,
  inputReference,
  isAuto,
  readSeconds,
  readSize,
  refuseDelivery,
} from "../shared/video-fields.ts";
import type { OwnVideoShape, VideoApi, VideoBound, VideoRequests, VideoState } from "../video-api.ts";
import { readTools, searchesMax } from "./hosted-tools.ts";

/** What BytePlus makes (`docs/wire/byteplus.md`, "/contents/generations/tasks"). */
const sizes = {
  resolutions: ["480p", "720p", "1080p", "2160p"],
  ratios: ["16:9", "4:3", "1:1", "3:4", "9:16", "21:9"],
};

/** The most pixels of a frame, of all ratios of a resolution. */
const framePixels: Readonly<Record<string, number>> = {
  "480p": 450_000,
  "720p": 970_000,
  "1080p": 2_100_000,
  "2k": 4_000_000,
  "4k": 8_900_000,
};
const FRAME_PIXELS_MAX = 8_900_000;
const FRAMES_PER_SECOND = 24;
/** A token of video is this many pixels of all frames. */
const PIXELS_PER_TOKEN = 1_024;

const SECONDS_DEFAULT = 5;
/** The longest that a model chooses itself, and the longest video that may be sent along. */
const SECONDS_MAX = 15;

const HOUR_MS = 3_600_000;
const LINK_MS = 24 * HOUR_MS;

/** OpenAI's fields as content and BytePlus's own fields, which win. */
async function toUpstream(input: CallInput): Promise<UpstreamRequestBody> {
  const { body } = input;
  refuseDelivery(body, "callback_url");
  const hidden = ["prompt", "seconds", "size", "input_reference", "content"];
  const content = listOf(body["content"]);
  const prompt = textOf(body["prompt"]);
  const hasText = content.some((part) => objectOf(part)?.["type"] === "text");
  const reference = inputReference(input);
  const size = readSize(body["size"]);
  const fitted = size && fitSize(size, sizes);
  const seconds = readSeconds(body["seconds"], "seconds");
  return {
    json: {
      ...(fitted && { resolution: fitted.resolution === "2160p" ? "4k" : fitted.resolution, ratio: fitted.ratio }),
      ...(seconds !== undefined && body["frames"] === undefined && { duration: seconds }),
      ...fieldsWithout(body, hidden),
      content: [
        ...(prompt === undefined || hasText ? [] : [{ type: "text", text: prompt }]),
        ...(reference === undefined ? [] : [{ type: "image_url", image_url: { url: await urlOf(reference) } }]),
        ...content,
      ],
    },
  };
}

/** The text of a request: it may contain parameters of an older form, such as `--dur 10`. */
function textIn(body: JsonObject): string {
  const parts = listOf(body["content"]).map((part) => textOf(objectOf(part)?.["text"]) ?? "");
  return [textOf(body["prompt"]) ?? "", ...parts].join("\n");
}

/** The values that parameters in the text have, under any of these names. */
function parametersIn(text: string, names: readonly string[]): string[] {
  const pattern = new RegExp(`--(?:${names.join("|")})[\\s=:]+([^\\s]{1,12})`, "gi");
  return [...text.matchAll(pattern)].map(([, value = ""]) => value.toLowerCase());
}

function completesDraft(body: JsonObject): boolean {
  return listOf(body["content"]).some((part) => objectOf(part)?.["draft_task"] !== undefined);
}

/** The most seconds that the fields and the text ask for. */
function secondsMax(body: JsonObject): number {
  const text = textIn(body);
  const inText = parametersIn(text, ["dur", "duration"]).map(Number);
  const frames = [body["frames"], ...parametersIn(text, ["frames"]).map(Number)].map(
    (count) => countOf(count) / FRAMES_PER_SECOND,
  );
  const own = body["duration"];
  // The model decides, or the draft that is completed.
  const isOpen = own === -1 || inText.some((seconds) => !(seconds > 0)) || completesDraft(body);
  const given = isOpen || own === undefined || own === null ? undefined : readSeconds(own, "duration");
  const named = [given ?? readSeconds(body["seconds"], "seconds") ?? 0, ...inText, ...frames].filter(
    (each) => each > 0,
  );
  return Math.max(isOpen ? SECONDS_MAX : 0, ...(named.length === 0 ? [SECONDS_DEFAULT] : named));
}

function framePixelsMax(body: JsonObject, model: string): number {
  const size = readSize(body["size"]);
  const named = [
    textOf(body["resolution"])?.toLowerCase() ?? (size && fitSize(size, sizes).resolution),
    ...parametersIn(textIn(body), ["rs", "resolution"]),
  ].filter((name) => name !== undefined);
  if (named.length === 0 && isAuto(body["size"])) return FRAME_PIXELS_MAX;
  // The first generation's larger model makes 1080p unless asked otherwise, the others 720p.
  const names = named.length === 0 ? [model.includes("1-0-pro") ? "1080p" : "720p"] : named;
  return Math.max(...names.map((name) => framePixels[name] ?? FRAME_PIXELS_MAX));
}

/** The parts with video, each as long as may be sent along. */
function inputVideos(body: JsonObject): number {
  return listOf(body["content"]).filter((part) => objectOf(part)?.["video_url"] !== undefined).length;
}

function bound(input: CallInput, model: string): VideoBound {
  const { body } = input;
  const videos = inputVideos(body);
  const seconds = secondsMax(body) + (videos > 0 ? SECONDS_MAX : 0);
  const tokens = Math.ceil((framePixelsMax(body, model) * FRAMES_PER_SECOND * seconds) / PIXELS_PER_TOKEN);
  const terms = askedTier(body["service_tier"]);
  return {
    outputVideo: {
      usage: { outputVideo: tokens },
      variant: {
        size: videos > 0 ? "from-video" : "from-text",
        quality: body["generate_audio"] === false ? "silent" : "audio",
      },
    },
    ...searchesMax(body),
    ...(terms && { terms }),
  };
}

/** The files, and the drafts, that the content names. */
function references(body: JsonObject): readonly ObjectReference[] {
  const list = new ReferenceList();
  list.addParts(body["content"], "content");
  for (const [index, part] of listOf(body["content"]).entries()) {
    list.add("video", objectOf(objectOf(part)?.["draft_task"])?.["id"], `content.${index}.draft_task.id`);
  }
  const reference = objectOf(body["input_reference"]);
  if (reference !== undefined) list.addPart(reference, "input_reference");
  return list.all;
}

const requests: VideoRequests = {
  toUpstream: (input) => {
    if (input.files.some(({ field }) => field !== "input_reference")) {
      throw refusal(
        "file",
        "this upstream accepts one file, input_reference; send others by their addresses in content.",
      );
    }
    return toUpstream(input);
  },
  bound,
  references,
};

export const videoGeneration: UpstreamOperation = {
  path: "/contents/generations/tasks",
  edits: () => [],
  readUsage: () => undefined,
  isFailure: () => false,
  video: requests,
};

const statuses: Readonly<Record<string, VideoState["status"]>> = {
  queued: "queued",
  running: "in_progress",
  succeeded: "completed",
  failed: "failed",
  cancelled: "failed",
  expired: "failed",
};

const secondsOf = (value: unknown): number | undefined => (countOf(value) > 0 ? countOf(value) : undefined);

const ownShape: OwnVideoShape = {
  job(answer, { status, error }, id) {
    const named = textOf(answer["status"]);
    const isGone = status === "failed" && statuses[named ?? ""] !== "failed";
    return { id, status: "queued", ...answer, ...(isGone && { status: "failed", error }) };
  },
  status: () => 200,
};

export const videos: VideoApi = {
  ownShape,
  path: "/contents/generations/tasks",
  isOwnId: (id) => id.startsWith("cgt-"),
  readId: ({ id }) => textOf(id),
  readJob(answer, { bound: request }) {
    const named = textOf(answer["status"]) ?? "queued";
    const status = statuses[named] ?? "in_progress";
    const content = objectOf(answer["content"]);
    const error = objectOf(answer["error"]);
    const updatedAt = secondsOf(answer["updated_at"]);
    const isEnded = status === "completed" || status === "failed";
    const urls = [content?.["video_url"], content?.["file_url"]].map(textOf).filter((url) => url !== undefined);
    return {
      status,
      urls,
      error:
        status === "failed"
          ? { code: textOf(error?.["code"]) ?? named, message: textOf(error?.["message"]) ?? `The job is ${named}.` }
          : undefined,
      seconds: secondsOf(answer["duration"]),
      createdAt: secondsOf(answer["created_at"]),
      completedAt: isEnded ? updatedAt : undefined,
      expiresAt: status === "completed" && updatedAt !== undefined ? updatedAt + LINK_MS / 1_000 : undefined,
      observed: isEnded ? observedIn(answer, request, status === "completed") : undefined,
    };
  },
  canDelete: true,
  hasContent: false,
  pollMsMin: 2_000,
  // A task may wait for 72 hours (`execution_expires_after`).
  jobMsMax: 73 * HOUR_MS,
};

/** The tokens that the task counts. A delivered video without a count costs what is held. */
function observedIn(answer: JsonObject, request: WorkBound, isDelivered: boolean): ObservedUsage | undefined {
  const tokens = countOf(objectOf(answer["usage"])?.["completion_tokens"]);
  if (tokens === 0 && !isDelivered) return undefined;
  const { usage: most = {}, variant } = request.outputVideo ?? {};
  const counted = tokens === 0 ? most : { outputVideo: tokens };
  const hasAudio = answer["generate_audio"];
  const quality = typeof hasAudio === "boolean" ? (hasAudio ? "audio" : "silent") : variant?.quality;
  const observed = {
    usage: { ...counted, ...readTools(answer).usage, requests: 1 },
    variant: { ...variant, quality },
  };
  return withTier(observed, answer["service_tier"]);
}
