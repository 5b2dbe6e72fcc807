import { type JsonObject, objectOf } from "../../core/index.ts";
import { type NamedEvent, namedEvent } from "../named-events.ts";
import type { ImagesBody } from "./bound.ts";
import { entriesOf, isDelivered } from "./delivered.ts";

/** The prefix of the names of a route's events. */
export type ImageEvents = "image_generation" | "image_edit";

/** Fields of the body repeated in the events if the answer does not contain their values. */
interface ImageRequestFields extends ImagesBody {
  output_format?: string | null | undefined;
  background?: string | null | undefined;
}

/** Media types that an upstream may send in place of a format. */
const IMAGE_TYPE = /^image\/(\w+)$/;

/**
 * A whole answer in OpenAI's events: one per image, the total usage with the last. Failures come after them, because an
 * SDK throws on them; without any image, they are the error.
 */
export function writeImageEvents(events: ImageEvents, body: ImageRequestFields, answer: JsonObject): string {
  const entries = entriesOf(answer);
  const delivered = entries.filter(isDelivered);
  const failures = entries.flatMap((entry, index) => failureOf(entry, index) ?? []);
  const completed = delivered.map((entry, index) => {
    const isLast = index === delivered.length - 1;
    const usage = isLast ? objectOf(answer["usage"]) : undefined;
    const failed = isLast ? answer["failed"] : undefined;
    const more = { ...(usage && { usage }), ...(failed !== undefined && { failed }) };
    return { type: `${events}.completed`, ...described(entry, body, answer), ...more };
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

/** A single failed image, under BytePlus's name: OpenAI has none. */
function failureOf({ error }: JsonObject, image_index: number): NamedEvent | undefined {
  if (error === undefined || error === null) return undefined;
  return { type: "image_generation.partial_failed", image_index, error };
}

function described(entry: JsonObject, body: ImageRequestFields, answer: JsonObject): JsonObject {
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
