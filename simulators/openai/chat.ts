import type { TokenCounts, ToolCall, Turn } from "../shared/answer.ts";
import {
  answerChat,
  type ChatTalk,
  type ChatWire,
  contentOrNull,
  fragmentedToolDeltas,
  plainUsage,
  textDeltas,
  wholeToolCalls,
} from "../shared/chat-wire.ts";
import {
  type ChatRules,
  checkToolPairs,
  commonChatFields,
  isAnything,
  isFlag,
  isInteger,
  isList,
  isNumber,
  isOneOf,
  isRecord,
  isText,
  type Problem,
} from "../shared/check.ts";
import { asObject, type JsonObject } from "../shared/json.ts";
import type { Route } from "../shared/types.ts";
import { openaiErrors } from "./errors.ts";

const rules: ChatRules = {
  strict: true,
  roles: ["developer", "system", "user", "assistant", "tool", "function"],
  fields: {
    ...commonChatFields,
    audio: isRecord,
    frequency_penalty: isNumber(-2, 2),
    function_call: isAnything,
    functions: isList,
    logit_bias: isRecord,
    logprobs: isFlag,
    max_completion_tokens: isInteger(1, 100_000_000),
    metadata: isRecord,
    modalities: isList,
    moderation: isRecord,
    n: isInteger(1, 128),
    parallel_tool_calls: isFlag,
    prediction: isRecord,
    presence_penalty: isNumber(-2, 2),
    prompt_cache_key: isText,
    prompt_cache_options: isRecord,
    prompt_cache_retention: isOneOf("in_memory", "24h"),
    reasoning_effort: isOneOf("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    safety_identifier: isText,
    seed: isInteger(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    service_tier: isOneOf("auto", "default", "flex", "scale", "priority", "fast"),
    store: isFlag,
    stream_options: isRecord,
    top_logprobs: isInteger(0, 20),
    user: isText,
    verbosity: isOneOf("low", "medium", "high"),
    web_search_options: isRecord,
  },
};

/** Families that think before they answer and refuse what only the older models take. */
const reasoningModel = /^(o\d|gpt-5)/;

function refuse(body: JsonObject): Problem | null {
  return checkToolPairs(body) ?? refuseForModel(body);
}

function refuseForModel(body: JsonObject): Problem | null {
  if (!reasoningModel.test(String(body["model"]))) return null;
  if (typeof body["max_tokens"] === "number") {
    const message = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    return { kind: "unsupported", field: "max_tokens", message };
  }
  const stopGiven = body["stop"] !== undefined && body["stop"] !== null;
  if (!stopGiven) return null;
  return { kind: "unsupported", field: "stop", message: "'stop' is not supported with this model." };
}

function usage(tokens: TokenCounts): JsonObject {
  return {
    ...plainUsage(tokens),
    prompt_tokens_details: { cached_tokens: tokens.cached, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: tokens.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function toolId(call: ToolCall): string {
  return `call_${call.label}`;
}

function wholeMessage(turn: Turn): JsonObject {
  const plain = { role: "assistant", content: contentOrNull(turn), refusal: null, annotations: [] };
  if (turn.toolCalls.length === 0) return plain;
  return { ...plain, tool_calls: wholeToolCalls(turn.toolCalls, toolId) };
}

function* deltas(turn: Turn): Generator<JsonObject> {
  yield { role: "assistant", content: contentOrNull(turn) === null ? null : "", refusal: null };
  yield* textDeltas(turn.text, (content) => ({ content }));
  yield* fragmentedToolDeltas(turn.toolCalls, toolId);
}

/** Padding of changing length on every chunk, on unless `include_obfuscation` is false. */
function obfuscate(chunk: JsonObject, talk: ChatTalk, index: number): JsonObject {
  if (asObject(talk.body["stream_options"])["include_obfuscation"] === false) return chunk;
  const length = 1 + talk.call.identity.number(`padding ${index}`, 12);
  return { ...chunk, obfuscation: talk.call.identity.token(`obfuscation ${index}`, length) };
}

const wire: ChatWire = {
  rules,
  errors: openaiErrors,
  usagePlace: "own-chunk",
  usageAlways: false,
  refuse,
  id: (identity) => `chatcmpl-${identity.token("chat", 29)}`,
  envelope: () => ({ service_tier: "default", system_fingerprint: null }),
  usage,
  message: wholeMessage,
  choice: () => ({ logprobs: null }),
  deltas,
  closingDelta: {},
  finishReasonNull: true,
  dressChunk: (chunk, talk, position) => obfuscate(chunk, talk, position.index),
};

/** Chat completions of OpenAI: strict about unknown fields, tool calls in fragments, usage in a chunk of its own. */
export const chatRoutes: readonly Route[] = [
  { method: "POST", path: "/openai/v1/chat/completions", handle: (call) => answerChat(call, wire) },
];
