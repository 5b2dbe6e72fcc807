import type { TokenCounts, ToolCall, Turn } from "../shared/answer.ts";
import {
  type ChatWire,
  contentOrNull,
  fragmentedToolDeltas,
  plainUsage,
  textDeltas,
  wholeToolCalls,
} from "../shared/chat-wire.ts";
import { type ChatRules, commonChatFields, isInteger, isRecord } from "../shared/check.ts";
import type { JsonObject } from "../shared/json.ts";
import { plainErrors } from "./errors.ts";

/** Lenient: what is not known is ignored. */
const lenientRules: ChatRules = {
  strict: false,
  roles: ["system", "developer", "user", "assistant", "tool", "function"],
  fields: {
    ...commonChatFields,
    max_completion_tokens: isInteger(1, 100_000_000),
    n: isInteger(1, 128),
    stream_options: isRecord,
  },
};

function usage(tokens: TokenCounts): JsonObject {
  return {
    ...plainUsage(tokens),
    ...(tokens.cached === 0 ? {} : { prompt_tokens_details: { cached_tokens: tokens.cached } }),
    ...(tokens.reasoning === 0 ? {} : { completion_tokens_details: { reasoning_tokens: tokens.reasoning } }),
  };
}

function toolId(call: ToolCall): string {
  return `call_${call.label}`;
}

function withReasoning(turn: Turn, field: string): JsonObject {
  return turn.reasoning === "" ? {} : { [field]: turn.reasoning };
}

function makeMessage(field: string): (turn: Turn) => JsonObject {
  return (turn) => ({
    role: "assistant",
    content: contentOrNull(turn),
    ...withReasoning(turn, field),
    ...(turn.toolCalls.length === 0 ? {} : { tool_calls: wholeToolCalls(turn.toolCalls, toolId) }),
  });
}

function makeDeltas(field: string): (turn: Turn) => Iterable<JsonObject> {
  return function* deltas(turn) {
    yield { role: "assistant", content: "" };
    yield* textDeltas(turn.reasoning, (piece) => ({ [field]: piece }));
    yield* textDeltas(turn.text, (content) => ({ content }));
    yield* fragmentedToolDeltas(turn.toolCalls, toolId);
  };
}

/** The wire most hosts and local servers speak; `reasoningField` is where the thinking goes. */
export function plainWire(reasoningField: string): ChatWire {
  return {
    rules: lenientRules,
    errors: plainErrors,
    usagePlace: "own-chunk",
    usageAlways: false,
    id: (identity) => `chatcmpl-${identity.hex("chat", 32)}`,
    usage,
    message: makeMessage(reasoningField),
    deltas: makeDeltas(reasoningField),
    closingDelta: {},
    finishReasonNull: true,
  };
}
