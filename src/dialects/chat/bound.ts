import { isOpaqueText, jsonBytes, Measure, type SizeOf } from "../../bodies/index.ts";
import {
  type JsonObject,
  listOf,
  objectOf,
  MESSAGE_TOKENS_MAX,
  type UsageBucket,
  type WorkBound,
} from "../../core/index.ts";
import type { ChatRequest } from "./request.ts";

/** The fields whose size is the size of the input. */
export const opaqueFields = ["messages", "tools", "functions", "response_format"] as const;

/**
 * A token of a byte-level vocabulary contains at least one byte, so the bytes of the text bound the tokens. The bound
 * is generous by a factor of about four for English; the unused part returns with the settlement.
 */
export function boundChat(body: ChatRequest, sizeOf: SizeOf): WorkBound {
  const measure = new Measure(sizeOf);
  let inputTokens = 0;
  for (const message of body.messages) {
    inputTokens += MESSAGE_TOKENS_MAX + otherBytes(message, measure) + measure.content(message.content, partTokens);
  }
  for (const member of opaqueFields) if (member !== "messages") inputTokens += jsonBytes(body[member], measure);
  measure.cached(body["prompt_cache_options"], "prompt_cache_options");
  return {
    inputTokens,
    outputTokens: outputLimit(body),
    choices: body.n ?? 1,
    // Upstreams of this dialect write caches by themselves, those that bill it included.
    ...measure.bound(true),
    ...generatedMedia(body),
  };
}

/** Tokens of sound and images are only generated if they are asked for. */
function generatedMedia(body: ChatRequest): Pick<WorkBound, "outputBuckets"> | undefined {
  if (body["modalities"] === undefined && body["audio"] === undefined) return undefined;
  const modalities = listOf(body["modalities"]);
  const buckets: UsageBucket[] = [];
  if (modalities.includes("audio") || objectOf(body["audio"]) !== undefined) buckets.push("outputAudio");
  if (modalities.includes("image")) buckets.push("outputImage");
  return buckets.length === 0 ? undefined : { outputBuckets: buckets };
}

/** Which of the two names an upstream uses is unknown: if both are present, the larger one is the bound. */
function outputLimit({ max_completion_tokens: current, max_tokens: former }: ChatRequest): number | undefined {
  return Math.max(current ?? 0, former ?? 0) || undefined;
}

function partTokens(part: JsonObject, measure: Measure): number {
  const { type, text } = part;
  measure.marked(part);
  switch (type) {
    case "text":
      return isOpaqueText(text) ? measure.sizeOf(text) : jsonBytes(part, measure);
    case "refusal":
      return jsonBytes(part, measure);
    case "image_url":
      return measure.image();
    case "input_audio":
      return measure.inputAudio(part);
    case "file":
      return measure.file(part, objectOf(part["file"]) ?? {});
    default:
      return Math.max(measure.unknown(), jsonBytes(part, measure));
  }
}

/** Names, tool calls, tool call ids: everything of a message besides its content. `role` alone is common and free. */
function otherBytes(message: JsonObject, measure: Measure): number {
  for (const key in message) {
    if (key === "role" || key === "content") continue;
    const { content: _, ...rest } = message;
    return jsonBytes(rest, measure);
  }
  return 0;
}
