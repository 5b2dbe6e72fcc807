import type { ToolCall, Turn } from "../shared/answer.ts";
import {
  answerChat,
  type ChatWire,
  contentOrNull,
  fragmentedToolDeltas,
  plainUsage,
  textDeltas,
  wholeToolCalls,
} from "../shared/chat-wire.ts";
import { type ChatRules, commonChatFields, isInteger, isRecord } from "../shared/check.ts";
import { asObject, type JsonObject } from "../shared/json.ts";
import { type Prompt, readChatPrompt } from "../shared/prompt.ts";
import type { Route } from "../shared/types.ts";
import { compatErrors } from "./errors.ts";

const rules: ChatRules = {
  strict: false,
  roles: ["system", "developer", "user", "assistant", "tool", "function"],
  fields: {
    ...commonChatFields,
    max_completion_tokens: isInteger(1, 100_000_000),
    n: isInteger(1, 1),
    stream_options: isRecord,
    thinking: isRecord,
  },
};

/** The layer ignores `response_format` and `reasoning_effort`; thinking is asked for by `thinking` and never shown. */
function readPrompt(body: JsonObject): Prompt {
  const thinking = asObject(body["thinking"])["type"] === "enabled";
  return { ...readChatPrompt(body), format: { kind: "text" }, reasoning: thinking };
}

function toolId(call: ToolCall): string {
  return `toolu_${call.label}`;
}

function wholeMessage(turn: Turn): JsonObject {
  const plain = { role: "assistant", content: contentOrNull(turn) };
  return turn.toolCalls.length === 0 ? plain : { ...plain, tool_calls: wholeToolCalls(turn.toolCalls, toolId) };
}

function* deltas(turn: Turn): Generator<JsonObject> {
  yield { role: "assistant", content: "" };
  yield* textDeltas(turn.text, (content) => ({ content }));
  yield* fragmentedToolDeltas(turn.toolCalls, toolId);
}

const wire: ChatWire = {
  rules,
  errors: compatErrors,
  usagePlace: "own-chunk",
  usageAlways: false,
  readPrompt,
  id: (identity) => `msg_01${identity.token("chat", 22)}`,
  usage: plainUsage,
  message: wholeMessage,
  deltas,
  closingDelta: {},
  finishReasonNull: true,
};

/** Chat completions of Anthropic's OpenAI-compatible layer: no details of cached tokens, no JSON modes. */
export const chatRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/anthropic/v1/chat/completions",
    errors: compatErrors,
    handle: (call) => answerChat(call, wire),
  },
];
