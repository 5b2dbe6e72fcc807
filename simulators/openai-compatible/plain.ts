import type { TokenCounts, Turn } from "../shared/answer.ts";
import { type ChatRules, chatFields } from "../shared/chat/check.ts";
import { choiceLogprobs, fragmentedToolDeltas, plainUsage, turnDeltas, wholeMessage } from "../shared/chat/parts.ts";
import type { ChatTalk, ChatWire } from "../shared/chat/wire.ts";
import type { JsonObject } from "../shared/json.ts";
import type { ToolCall } from "../shared/tool-calls.ts";
import { plainErrors } from "./errors.ts";

/** Lenient: unknown members are ignored. */
const lenientRules: ChatRules = {
  strict: false,
  roles: ["system", "user", "assistant", "tool", "function"],
  fields: chatFields(["max_completion_tokens", "n", "stream_options"]),
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

function makeDeltas(field: string): ChatWire["deltas"] {
  return (turn: Turn, talk: ChatTalk) =>
    turnDeltas(turn, {
      opening: { role: "assistant", content: "" },
      reasoning: (piece) => ({ [field]: piece }),
      calls: fragmentedToolDeltas(turn, talk, toolId),
    });
}

/** The format of most hosts and local servers; `reasoningField` contains the thinking. */
export function plainWire(reasoningField: "reasoning" | "reasoning_content"): ChatWire {
  return {
    rules: lenientRules,
    errors: plainErrors,
    usagePlace: "own-chunk",
    usageAlways: false,
    id: (identity) => `chatcmpl-${identity.hex("chat", 32)}`,
    usage,
    message: (turn) => wholeMessage(turn, { toolId, reasoning: reasoningField, nullContent: true }),
    choice: (_turn, told, talk) => ({ logprobs: choiceLogprobs(told, talk) }),
    refusal: "text",
    deltas: makeDeltas(reasoningField),
    closingDelta: {},
    finishReasonNull: true,
  };
}
