import type { TokenCounts, ToolCall, Turn } from "../shared/answer.ts";
import {
  answerChat,
  type ChatTalk,
  type ChatWire,
  indexedToolCalls,
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
import type { JsonObject } from "../shared/json.ts";
import type { Route } from "../shared/types.ts";
import { xaiErrors } from "./errors.ts";
import { languageModel } from "./models.ts";

const rules: ChatRules = {
  strict: false,
  roles: ["system", "developer", "user", "assistant", "tool", "function"],
  fields: {
    ...commonChatFields,
    frequency_penalty: isNumber(-2, 2),
    max_completion_tokens: isInteger(1, 100_000_000),
    n: isInteger(1, 128),
    parallel_tool_calls: isFlag,
    presence_penalty: isNumber(-2, 2),
    reasoning_effort: isOneOf("none", "low", "medium", "high", "xhigh"),
    stream_options: isRecord,
  },
};

const reasoningModel = /^grok-(4|code|3-mini)/;

/** Models that think refuse stop words and penalties. */
function refuse(body: JsonObject): Problem | null {
  const model = String(body["model"]);
  if (!reasoningModel.test(model) || model.includes("non-reasoning")) return null;
  for (const field of ["stop", "presence_penalty", "frequency_penalty"]) {
    if (body[field] === undefined || body[field] === null) continue;
    return { kind: "unsupported", field, message: `Argument not supported on this model: ${field}` };
  }
  return null;
}

/** `completion_tokens` leaves reasoning out; the real cost is given in ticks (1e-10 US dollar). */
function usage(tokens: TokenCounts, talk: ChatTalk): JsonObject {
  return {
    prompt_tokens: tokens.prompt,
    completion_tokens: tokens.answer,
    total_tokens: tokens.prompt + tokens.answer + tokens.reasoning,
    prompt_tokens_details: {
      text_tokens: tokens.prompt,
      audio_tokens: 0,
      image_tokens: 0,
      cached_tokens: tokens.cached,
    },
    completion_tokens_details: {
      reasoning_tokens: tokens.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
    num_sources_used: 0,
    cost_in_usd_ticks: costTicks(tokens, talk.model),
  };
}

function costTicks(tokens: TokenCounts, model: string): number {
  const { promptPrice, cachedPrice, completionPrice } = languageModel(model);
  const prompt = (tokens.prompt - tokens.cached) * promptPrice + tokens.cached * cachedPrice;
  return prompt + (tokens.answer + tokens.reasoning) * completionPrice;
}

function toolId(call: ToolCall): string {
  return `call_${call.label.slice(0, 8)}`;
}

function wholeMessage(turn: Turn): JsonObject {
  return {
    role: "assistant",
    content: turn.text,
    ...(turn.reasoning === "" ? {} : { reasoning_content: turn.reasoning }),
    ...(turn.toolCalls.length === 0 ? {} : { tool_calls: wholeToolCalls(turn.toolCalls, toolId) }),
    refusal: null,
  };
}

/** All tool calls come whole in one chunk. */
function* deltas(turn: Turn): Generator<JsonObject> {
  yield { role: "assistant", content: "" };
  yield* textDeltas(turn.reasoning, (piece) => ({ reasoning_content: piece }));
  yield* textDeltas(turn.text, (content) => ({ content }));
  if (turn.toolCalls.length > 0) yield { tool_calls: indexedToolCalls(turn.toolCalls, toolId) };
}

const wire: ChatWire = {
  rules,
  errors: xaiErrors,
  usagePlace: "own-chunk",
  usageAlways: false,
  refuse,
  id: (identity) => identity.uuid("chat"),
  envelope: () => ({ system_fingerprint: "fp_simulated" }),
  usage,
  message: wholeMessage,
  deltas,
  closingDelta: {},
  finishReasonNull: true,
};

/** Chat completions of xAI. */
export const chatRoutes: readonly Route[] = [
  { method: "POST", path: "/xai/v1/chat/completions", handle: (call) => answerChat(call, wire) },
];
