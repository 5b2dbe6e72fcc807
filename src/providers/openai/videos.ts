import { type JsonObject, objectOf } from "../../core/index.ts";
import type { UpstreamOperation, UpstreamRequestBody } from "../provider.ts";
import { textOf } from "../shared/json.ts";
import {
  billedMs,
  fieldsWithout,
  isAuto,
  mediaReferences,
  readSeconds,
  readSize,
  refuseDelivery,
  resolutionOf,
} from "../shared/video-fields.ts";
import type { VideoApi, VideoInput, VideoRequests, VideoSource, VideoState } from "../video-api.ts";

/** The defaults of OpenAI's API (`docs/wire/openai.md`). */
const SECONDS_DEFAULT = 4;
const RESOLUTION_DEFAULT = "720p";

/** The longest video that OpenAI made, extended ones included. */
const SECONDS_MAX = 120;

/** The longest video that is made, or added to another, in one job. */
const JOB_SECONDS_MAX = 20;

const HOUR_MS = 3_600_000;

/** The client's own body, without the gateway's fields. The video of an edit names its model. */
function passedOn({ body, files, isForm }: VideoInput, source: VideoSource | undefined): UpstreamRequestBody {
  refuseDelivery(body, "callback_url");
  const fields = fieldsWithout(body, source === undefined ? [] : ["model", "video_id", "video"]);
  const all = source === undefined ? fields : { ...fields, video: { id: source.id } };
  if (!isForm) return { json: all };
  const texts = Object.entries(all).flatMap(([name, value]) => textFields(name, value));
  return { form: [...texts, ...files.map((file) => ({ name: file.field, file }))] };
}

/** A value as a form's fields: those of an object are `name[member]`. */
function textFields(name: string, value: unknown): { name: string; text: string }[] {
  const object = objectOf(value);
  if (object === undefined) return [{ name, text: typeof value === "string" ? value : JSON.stringify(value) }];
  return Object.entries(object).flatMap(([member, each]) => textFields(`${name}[${member}]`, each));
}

/** Undefined if the provider chooses: then the most expensive one is held. */
function resolutionIn(body: JsonObject): string | undefined {
  if (isAuto(body["size"])) return undefined;
  const size = readSize(body["size"]);
  return size === undefined ? RESOLUTION_DEFAULT : resolutionOf(size);
}

function boundOf(seconds: number, resolution: string | undefined): ReturnType<VideoRequests["bound"]> {
  return {
    outputVideo: {
      usage: { outputVideoMs: seconds * 1_000 },
      variant: resolution === undefined ? undefined : { size: resolution },
    },
  };
}

const references = (body: JsonObject) => mediaReferences(body, ["input_reference", "video"]);

const generation: VideoRequests = {
  toUpstream: passedOn,
  bound: ({ body }) => boundOf(readSeconds(body["seconds"], "seconds") ?? SECONDS_DEFAULT, resolutionIn(body)),
  references,
};

/** An edit is as long as its source; the size of an uploaded one is unknown. */
const edit: VideoRequests = {
  toUpstream: passedOn,
  bound: ({ body }, _model, source) => {
    const size = readSize(body["size"]);
    return boundOf(source?.seconds ?? JOB_SECONDS_MAX, size === undefined ? undefined : resolutionOf(size));
  },
  references,
};

/** What is added is billed. The answer's `seconds` are those of the whole. */
const extension: VideoRequests = {
  ...edit,
  bound: ({ body }) => {
    const size = readSize(body["size"]);
    const seconds = readSeconds(body["seconds"], "seconds") ?? JOB_SECONDS_MAX;
    return boundOf(seconds, size === undefined ? undefined : resolutionOf(size));
  },
};

function operationOf(path: string, video: VideoRequests): UpstreamOperation {
  return { path, edits: () => [], readUsage: () => undefined, isFailure: () => false, video };
}

export const videoGeneration = operationOf("/videos", generation);
export const videoEdit = operationOf("/videos/edits", edit);
export const videoExtension = operationOf("/videos/extensions", extension);

const statuses: Readonly<Record<string, VideoState["status"]>> = {
  queued: "queued",
  in_progress: "in_progress",
  processing: "in_progress",
  completed: "completed",
  failed: "failed",
  cancelled: "failed",
  canceled: "failed",
  expired: "failed",
};

const wholeNumber = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

export const videos: VideoApi = {
  path: "/videos",
  isOwnId: (id) => id.startsWith("video_"),
  readId: ({ id }) => textOf(id),
  readJob(answer, { operation, bound }) {
    const named = textOf(answer["status"]) ?? "queued";
    // A status that is not known is not the end.
    const status = statuses[named] ?? "in_progress";
    const error = objectOf(answer["error"]);
    const seconds = Number(answer["seconds"]);
    const known = Number.isFinite(seconds) && seconds > 0 && seconds <= SECONDS_MAX ? seconds : undefined;
    const size = textOf(answer["size"]);
    const { usage: { outputVideoMs = 0 } = {}, variant } = bound.outputVideo ?? {};
    const pixels = /^\d{2,5}x\d{2,5}$/.test(size ?? "") ? readSize(size) : undefined;
    return {
      status,
      progress: wholeNumber(answer["progress"]),
      urls: [],
      error:
        status === "failed"
          ? { code: textOf(error?.["code"]) ?? named, message: textOf(error?.["message"]) ?? `The job is ${named}.` }
          : undefined,
      seconds: known,
      size,
      createdAt: wholeNumber(answer["created_at"]),
      completedAt: wholeNumber(answer["completed_at"]),
      expiresAt: wholeNumber(answer["expires_at"]),
      observed:
        status === "completed"
          ? {
              usage: { outputVideoMs: billedMs(operation, outputVideoMs, known && known * 1_000), requests: 1 },
              variant: pixels === undefined ? (variant ?? {}) : { size: resolutionOf(pixels) },
            }
          : undefined,
    };
  },
  canDelete: true,
  hasContent: true,
  pollMsMin: 2_000,
  jobMsMax: 24 * HOUR_MS,
};
