import type { TokenCounts, Turn } from "../shared/answer.ts";
import { type ChatRules, chatFields, shortToolName } from "../shared/chat/check.ts";
import { indexedToolCalls, turnDeltas, wholeMessage } from "../shared/chat/parts.ts";
import { answerChat, type ChatTalk, type ChatWire } from "../shared/chat/wire.ts";
import { isOneOf, type Problem } from "../shared/check.ts";
import { isGiven, type JsonObject } from "../shared/json.ts";
import { refuseEffort } from "../shared/limits.ts";
import type { ToolCall } from "../shared/tool-calls.ts";
import type { Route } from "../shared/types.ts";
import { xaiErrors } from "./errors.ts";
import { costTicks, effortRows } from "./models.ts";

const rules: ChatRules = {
  strict: false,
  roles: ["system", "user", "assistant", "tool", "function"],
  toolName: shortToolName,
  fields: chatFields(
    ["frequency_penalty", "max_completion_tokens", "n", "parallel_tool_calls", "presence_penalty", "stream_options"],
    { reasoning_effort: isOneOf("none", "low", "medium", "high", "xhigh") },
  ),
};

const reasoningModel = /^grok-(4|code|3-mini)/;

/** Models that think refuse stop words and penalties. */
function refuse(body: JsonObject): Problem | null {
  const model = String(body["model"]);
  const effort = refuseEffort(body, effortRows);
  if (effort !== null) return effort;
  if (!reasoningModel.test(model) || model.includes("non-reasoning")) return null;
  for (const field of ["stop", "presence_penalty", "frequency_penalty"]) {
    if (!isGiven(body[field])) continue;
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

function toolId(call: ToolCall): string {
  return `call_${call.label.slice(0, 8)}`;
}

function writeMessage(turn: Turn): JsonObject {
  return { ...wholeMessage(turn, { toolId, reasoning: "reasoning_content", nullContent: false }), refusal: null };
}

/** All tool calls come whole in one chunk. */
function deltas(turn: Turn): Iterable<JsonObject> {
  return turnDeltas(turn, {
    opening: { role: "assistant", content: "" },
    reasoning: (piece) => ({ reasoning_content: piece }),
    calls: turn.toolCalls.length === 0 ? [] : [{ tool_calls: indexedToolCalls(turn.toolCalls, toolId) }],
  });
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
  message: writeMessage,
  refusal: "filter",
  deltas,
  closingDelta: {},
  finishReasonNull: true,
};

/** Chat completions of xAI. */
export const chatRoutes: readonly Route[] = [
  { method: "POST", path: "/xai/v1/chat/completions", handle: (call) => answerChat(call, wire) },
];
