import { z } from "zod";
import { modelId } from "../bodies/index.ts";
import { objectOf, parseObject, type VideoOperation } from "../core/index.ts";

/** An address to notify has to fit into a log line and a row. */
const URL_CHARACTERS_MAX = 2_048;

const members = {
  model: modelId.describe("Provider-prefixed video model."),
  prompt: z.string().nullish(),
  seconds: z.union([z.string(), z.number()]).nullish().describe("The length of the video."),
  size: z.string().nullish().describe("Width by height, such as 1280x720."),
  duration: z.union([z.string(), z.number()]).nullish().describe("xAI and BytePlus: the length of the video."),
  content: z.array(z.unknown()).nullish().describe("BytePlus: texts, images and videos."),
  webhook_url: z.string().max(URL_CHARACTERS_MAX).nullish().describe("Is sent a signed POST when the job ends."),
};

/** The body of a new video, as far as the gateway must understand it to route it. */
export const videoRequest = z.looseObject(members).meta({ id: "VideoRequest" });

/** The body of an edit or extension. Whether it needs a model depends on what it changes. */
export const videoChangeRequest = z
  .looseObject({
    ...members,
    model: modelId.nullish().describe("Provider-prefixed video model. An own video, named by its id, needs none."),
  })
  .meta({ id: "VideoChangeRequest" });

export type VideoRequest = z.output<typeof videoChangeRequest>;

/** The schema of a body in JSON. */
export function videoBodyOf(operation: VideoOperation): z.ZodType<VideoRequest> {
  return operation === "video_generation" ? videoRequest : videoChangeRequest;
}

/** Fields with numbers, and with booleans, of all providers. */
const numbers = new Set(["duration", "frames", "seed", "execution_expires_after", "priority", "subdivision_level"]);
const flags = new Set(["watermark", "camera_fixed", "generate_audio", "return_last_frame", "draft", "optimize_prompt"]);
/** Fields with JSON. */
const structured = new Set([
  "content",
  "keyframes",
  "reference_images",
  "reference_audios",
  "storage_options",
  "tools",
]);

function typed(name: string, text: unknown): unknown {
  if (typeof text !== "string") return text;
  if (numbers.has(name) && /^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  if (flags.has(name) && (text === "true" || text === "false")) return text === "true";
  // In an object, since only that is parsed within bounds. A text that is no JSON stays, for the schema to refuse.
  if (structured.has(name)) return parseObject(`{"value":${text}}`)?.["value"] ?? text;
  return text;
}

/** The fields of a form with their types; `video[id]` is a member of `video`. */
function readFields(fields: unknown): unknown {
  const read = new Map<string, unknown>();
  for (const [name, value] of Object.entries(objectOf(fields) ?? {})) {
    const [, outer, inner] = /^([^[\]]+)\[([^[\]]+)\]$/.exec(name) ?? [];
    if (outer === undefined || inner === undefined) read.set(name, typed(name, value));
    else read.set(outer, { ...objectOf(read.get(outer)), [inner]: value });
  }
  return Object.fromEntries(read);
}

/** The schema of the text fields of a form; its files are separate. */
export function videoFormOf(operation: VideoOperation): z.ZodType<VideoRequest> {
  return z.preprocess(readFields, videoBodyOf(operation));
}
