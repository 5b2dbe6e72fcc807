import type { JsonObject } from "../../core/index.ts";
import type { CallBound } from "../dialect.ts";
import type { ChatRequest } from "./request.ts";

/** No known model counts more for one picture, whatever its size. */
const IMAGE_TOKENS_MAX = 20_000;

/** Tokens that a chat template adds around a message. */
const MESSAGE_TOKENS_MAX = 16;

/** Fields of a part whose bytes are media, not text: their tokens don't follow from their length. */
const MEDIA_PARTS = new Map<unknown, (bytes: number) => number>([
  ["image_url", () => IMAGE_TOKENS_MAX],
  ["video_url", (bytes) => bytes + IMAGE_TOKENS_MAX],
]);

/**
 * A token of a byte-level vocabulary holds at least one byte, so that the bytes of what is said bound the tokens. The
 * bound is generous by a factor of about four for English; what is not used returns with the settlement.
 */
export function boundChat(body: ChatRequest): CallBound {
  let inputTokens = 0;
  for (const { content, ...rest } of body.messages) {
    inputTokens += MESSAGE_TOKENS_MAX + otherBytes(rest) + contentTokens(content);
  }
  inputTokens += jsonBytes(body["tools"]) + jsonBytes(body["functions"]) + jsonBytes(body["response_format"]);
  return {
    inputTokens,
    outputTokens: outputLimit(body),
    choices: body.n ?? 1,
  };
}

/** Which of the two names an upstream goes by is its own business: where both are there, the larger one bounds. */
function outputLimit({ max_completion_tokens: current, max_tokens: former }: ChatRequest): number | undefined {
  return Math.max(current ?? 0, former ?? 0) || undefined;
}

function contentTokens(content: ChatRequest["messages"][number]["content"]): number {
  if (typeof content === "string") return Buffer.byteLength(content);
  let tokens = 0;
  for (const part of content ?? []) tokens += partTokens(part);
  return tokens;
}

function partTokens(part: JsonObject): number {
  const text = part["text"];
  if (part["type"] === "text" && typeof text === "string") return Buffer.byteLength(text);
  const media = MEDIA_PARTS.get(part["type"]);
  return media === undefined ? jsonBytes(part) : media(jsonBytes(part["video_url"]));
}

/** Names, tool calls, tool call ids: everything of a message besides its content. `role` alone is common and free. */
function otherBytes(rest: JsonObject): number {
  for (const key in rest) {
    if (key !== "role") return jsonBytes(rest);
  }
  return 0;
}

function jsonBytes(value: unknown): number {
  return value === undefined || value === null ? 0 : Buffer.byteLength(JSON.stringify(value));
}
