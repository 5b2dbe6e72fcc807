import { type JsonObject, objectOf } from "../../core/index.ts";
import { type NamedEvent, namedEvent } from "../named-events.ts";
import type { ImagesBody } from "./bound.ts";
import { entriesOf, isDelivered } from "./delivered.ts";

/** First word of the names of a route's events. */
export type ImageEvents = "image_generation" | "image_edit";

/** What of the body is told again where the answer doesn't say what became of it. */
interface AskedBody extends ImagesBody {
  output_format?: string | null | undefined;
  background?: string | null | undefined;
}

/** Types of files, as an upstream may name them in place of a format. */
const IMAGE_TYPE = /^image\/(\w+)$/;

/**
 * A whole answer in OpenAI's events: one for each image, the usage of all with the last. What failed comes after them, since
 * an SDK throws on it; where nothing came out at all, that is the error.
 */
export function writeImageEvents(events: ImageEvents, body: AskedBody, answer: JsonObject): string {
  const entries = entriesOf(answer);
  const delivered = entries.filter(isDelivered);
  const failures = entries.flatMap((entry, index) => failureOf(entry, index) ?? []);
  const completed = delivered.map((entry, index) => {
    const usage = index === delivered.length - 1 ? objectOf(answer["usage"]) : undefined;
    return { type: `${events}.completed`, ...described(entry, body, answer), ...(usage && { usage }) };
  });
  const nothing = completed.length + failures.length === 0;
  return [...completed, ...failures, ...(nothing ? [withheld] : [])].map(namedEvent).join("");
}

const withheld = {
  type: "error",
  error: {
    message: "The upstream has made no image that it delivers.",
    type: "image_generation_user_error",
    code: "moderation_blocked",
    param: null,
  },
};

/** An image that failed by itself, under BytePlus's name for it: OpenAI has none. */
function failureOf({ error }: JsonObject, image_index: number): NamedEvent | undefined {
  if (error === undefined || error === null) return undefined;
  return { type: "image_generation.partial_failed", image_index, error };
}

function described(entry: JsonObject, body: AskedBody, answer: JsonObject): JsonObject {
  const { url, b64_json, revised_prompt, mime_type } = entry;
  const fileType = typeof mime_type === "string" ? IMAGE_TYPE.exec(mime_type)?.[1] : undefined;
  return {
    ...(b64_json === undefined ? { url } : { b64_json }),
    ...(revised_prompt === undefined ? {} : { revised_prompt }),
    created_at: answer["created"] ?? 0,
    size: entry["size"] ?? answer["size"] ?? body.size ?? "auto",
    quality: answer["quality"] ?? body.quality ?? "auto",
    background: answer["background"] ?? body.background ?? "auto",
    output_format: entry["output_format"] ?? fileType ?? answer["output_format"] ?? body.output_format ?? "png",
  };
}
