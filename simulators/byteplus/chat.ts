import type { TokenCounts, ToolCall, Turn } from "../shared/answer.ts";
import {
  answerChat,
  type ChatWire,
  fragmentedToolDeltas,
  plainUsage,
  textDeltas,
  wholeToolCalls,
} from "../shared/chat-wire.ts";
import {
  type ChatRules,
  commonChatFields,
  isFlag,
  isInteger,
  isNumber,
  isOneOf,
  isRecord,
  type Problem,
} from "../shared/check.ts";
import { asObject, type JsonObject } from "../shared/json.ts";
import type { Answer, Call, Route } from "../shared/types.ts";
import { byteplusErrors } from "./errors.ts";

const rules: ChatRules = {
  strict: false,
  roles: ["system", "developer", "user", "assistant", "tool"],
  fields: {
    ...commonChatFields,
    frequency_penalty: isNumber(-2, 2),
    max_completion_tokens: isInteger(1, 100_000_000),
    n: isInteger(1, 1),
    parallel_tool_calls: isFlag,
    presence_penalty: isNumber(-2, 2),
    reasoning_effort: isOneOf("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    service_tier: isOneOf("auto", "default", "fast"),
    stream_options: isRecord,
    thinking: isRecord,
  },
};

/** One limit is for the answer alone, the other for thinking and answer: they exclude each other. */
function refuse(body: JsonObject): Problem | null {
  if (typeof body["max_tokens"] !== "number" || typeof body["max_completion_tokens"] !== "number") return null;
  const message = "cannot be set together with `max_tokens`";
  return { kind: "bad-value", field: "max_completion_tokens", message, value: body["max_completion_tokens"] };
}

function usage(tokens: TokenCounts): JsonObject {
  return {
    ...plainUsage(tokens),
    prompt_tokens_details: { cached_tokens: tokens.cached },
    completion_tokens_details: { reasoning_tokens: tokens.reasoning },
  };
}

function toolId(call: ToolCall): string {
  return `call_${call.label.toLowerCase()}`;
}

/** The content of a message that only calls tools is an empty text, not null. */
function wholeMessage(turn: Turn): JsonObject {
  return {
    role: "assistant",
    content: turn.text,
    ...(turn.reasoning === "" ? {} : { reasoning_content: turn.reasoning }),
    ...(turn.toolCalls.length === 0 ? {} : { tool_calls: wholeToolCalls(turn.toolCalls, toolId) }),
  };
}

function* deltas(turn: Turn): Generator<JsonObject> {
  yield { role: "assistant", content: "" };
  yield* textDeltas(turn.reasoning, (piece) => ({ content: "", reasoning_content: piece }));
  yield* textDeltas(turn.text, (content) => ({ content }));
  yield* fragmentedToolDeltas(turn.toolCalls, toolId);
}

const wire: ChatWire = {
  rules,
  errors: byteplusErrors,
  usagePlace: "own-chunk",
  usageAlways: false,
  refuse,
  id: (identity) => `0217672256${identity.hex("chat", 41)}`,
  envelope: () => ({ service_tier: "default" }),
  usage,
  message: wholeMessage,
  choice: () => ({ logprobs: null }),
  deltas,
  closingDelta: { content: "" },
  finishReasonNull: true,
};

/** `stream_options.chunk_include_usage`: usage so far in every chunk. */
const everyChunkWire: ChatWire = { ...wire, usagePlace: "every-chunk", usageAlways: true };

function handle(call: Call): Answer {
  const everyChunk = asObject(asObject(call.body)["stream_options"])["chunk_include_usage"] === true;
  return answerChat(call, everyChunk ? everyChunkWire : wire);
}

/** Chat completions of BytePlus ModelArk. */
export const chatRoutes: readonly Route[] = [{ method: "POST", path: "/byteplus/api/v3/chat/completions", handle }];
