import { isData, isOpaqueText, jsonBytes, Measure, type SizeOf } from "../../bodies/index.ts";
import {
  IMAGE_TOKENS_MAX,
  type JsonObject,
  objectOf,
  MESSAGE_TOKENS_MAX,
  UNKNOWN_PART_TOKENS,
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
    inputTokens += MESSAGE_TOKENS_MAX + otherBytes(message, measure) + contentTokens(message.content, measure);
  }
  for (const member of opaqueFields) if (member !== "messages") inputTokens += jsonBytes(body[member], measure);
  return {
    inputTokens,
    outputTokens: outputLimit(body),
    choices: body.n ?? 1,
    unsizedParts: measure.unsizedParts,
  };
}

/** Which of the two names an upstream uses is unknown: if both are present, the larger one is the bound. */
function outputLimit({ max_completion_tokens: current, max_tokens: former }: ChatRequest): number | undefined {
  return Math.max(current ?? 0, former ?? 0) || undefined;
}

function contentTokens(content: ChatRequest["messages"][number]["content"], measure: Measure): number {
  if (isOpaqueText(content)) return measure.sizeOf(content);
  let tokens = 0;
  for (const part of content ?? []) tokens += partTokens(part, measure);
  return tokens;
}

function partTokens(part: JsonObject, measure: Measure): number {
  const { type, text } = part;
  if (type === "text" && isOpaqueText(text)) return measure.sizeOf(text);
  if (type === "image_url") return measure.capAt(IMAGE_TOKENS_MAX);
  return holdsItsContent(part)
    ? jsonBytes(part, measure)
    : Math.max(measure.capAt(UNKNOWN_PART_TOKENS), jsonBytes(part, measure));
}

/** Whether everything the model reads for a part is in the request. */
function holdsItsContent(part: JsonObject): boolean {
  switch (part["type"]) {
    case "text":
    case "refusal":
      return true;
    case "input_audio":
      return isData(objectOf(part["input_audio"])?.["data"]);
    case "file": {
      const file = objectOf(part["file"]) ?? {};
      return isData(file["file_data"]) && file["file_id"] === undefined && file["file_url"] === undefined;
    }
    default:
      return false;
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
