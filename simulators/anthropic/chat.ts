import type { Turn } from "../shared/answer.ts";
import { type ChatRules, chatFields } from "../shared/chat/check.ts";
import { fragmentedToolDeltas, plainUsage, turnDeltas, wholeMessage } from "../shared/chat/parts.ts";
import { readChatPrompt } from "../shared/chat/read-prompt.ts";
import { answerChat, type ChatTalk, type ChatWire } from "../shared/chat/wire.ts";
import { isInteger, type Problem } from "../shared/check.ts";
import { asArray, asObject, type JsonObject } from "../shared/json.ts";
import type { Prompt } from "../shared/prompt.ts";
import { first } from "../shared/shape.ts";
import type { ToolCall } from "../shared/tool-calls.ts";
import type { Route } from "../shared/types.ts";
import { compatErrors } from "./errors.ts";
import { checkChoice, checkPrefill, checkSampling } from "./messages-rules.ts";
import { checkTop } from "./schema-rules.ts";

const rules: ChatRules = {
  strict: false,
  roles: ["system", "developer", "user", "assistant", "tool", "function"],
  toolName: /^[a-zA-Z0-9_-]{1,128}$/,
  fields: chatFields(["max_completion_tokens", "stream_options", "thinking"], { n: isInteger(1, 1) }),
};

/** The layer ignores `response_format` and `reasoning_effort`; thinking is asked for by `thinking` and never shown. */
function readPrompt(body: JsonObject): Prompt {
  const thinking = asObject(body["thinking"])["type"] === "enabled";
  return { ...readChatPrompt(body), format: { kind: "text" }, reasoning: thinking };
}

function toolId(call: ToolCall): string {
  return `toolu_${call.label}`;
}

function writeMessage(turn: Turn): JsonObject {
  return wholeMessage(turn, { toolId, reasoning: null, nullContent: true });
}

function deltas(turn: Turn, talk: ChatTalk): Iterable<JsonObject> {
  const opening = { role: "assistant", content: "" };
  return turnDeltas(turn, { opening, calls: fragmentedToolDeltas(turn, talk, toolId) });
}

function checkFunctions(body: JsonObject): Problem | null {
  return first(asArray(body["tools"]).entries(), ([index, tool]) =>
    checkTop(asObject(asObject(tool)["function"])["parameters"], `tools.${index}.input_schema`),
  );
}

const wire: ChatWire = {
  rules,
  errors: compatErrors,
  usagePlace: "own-chunk",
  usageAlways: false,
  refuse: (body) => checkPrefill(body) ?? checkChoice(body) ?? checkFunctions(body) ?? checkSampling(body),
  readPrompt,
  id: (identity) => `msg_01${identity.token("chat", 22)}`,
  usage: plainUsage,
  message: writeMessage,
  refusal: "filter",
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
