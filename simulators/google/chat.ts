import type { TokenCounts, Turn } from "../shared/answer.ts";
import { inlineUrl } from "../shared/attachments.ts";
import { type ChatRules, chatFields, shortToolName } from "../shared/chat/check.ts";
import { textDeltas, wholeToolCalls } from "../shared/chat/parts.ts";
import { readChatPrompt } from "../shared/chat/read-prompt.ts";
import { answerChat, type ChatTalk, type ChatWire } from "../shared/chat/wire.ts";
import { isInteger, isOneOf, isRecord } from "../shared/check.ts";
import { asObject, type JsonObject } from "../shared/json.ts";
import type { Prompt } from "../shared/prompt.ts";
import { record } from "../shared/shape.ts";
import type { Route } from "../shared/types.ts";
import { compatErrors } from "./errors.ts";
import { callId, refuseSignatures, signature } from "./signatures.ts";

const rules: ChatRules = {
  strict: true,
  roles: ["system", "user", "assistant", "tool"],
  toolName: shortToolName,
  fields: chatFields(["max_completion_tokens", "modalities", "stream_options"], {
    audio: isRecord,
    extra_body: isRecord,
    n: isInteger(1, 8),
    reasoning_effort: isOneOf("none", "minimal", "low", "medium", "high"),
  }),
  // The layer fetches nothing: images come inline.
  parts: {
    image_url: record({ image_url: record({ url: inlineUrl }, { open: true }) }, { open: true }),
  },
};

/** Thinking is missing from `completion_tokens` and only seen in the total. */
function usage(tokens: TokenCounts): JsonObject {
  const total = tokens.prompt + tokens.answer + tokens.reasoning;
  return { prompt_tokens: tokens.prompt, completion_tokens: tokens.answer, total_tokens: total };
}

/** The first of the calls holds the signature that newer models want back with it. */
function toolCalls(turn: Turn, talk: ChatTalk): JsonObject[] {
  return wholeToolCalls(turn.toolCalls, (call) => callId(call, talk.call.identity)).map((call, index) =>
    index > 0 ? call : { ...call, extra_content: { google: { thought_signature: signature(turn) } } },
  );
}

function thinkingConfig(body: JsonObject): JsonObject {
  const google = asObject(asObject(body["extra_body"])["google"]);
  return asObject(google["thinking_config"]);
}

/** Thinking is asked for by an effort or by Google's own extra. */
function readPrompt(body: JsonObject): Prompt {
  const prompt = readChatPrompt(body);
  const config = thinkingConfig(body);
  const asked = Object.keys(config).length > 0 && config["thinking_budget"] !== 0;
  return { ...prompt, reasoning: prompt.reasoning || asked };
}

function thoughtsShown(talk: ChatTalk): boolean {
  return thinkingConfig(talk.body)["include_thoughts"] === true;
}

/** Thoughts come inside the content, and only when they were asked for. */
function content(turn: Turn, talk: ChatTalk): string {
  if (turn.reasoning === "" || !thoughtsShown(talk)) return turn.text;
  return `<thought>${turn.reasoning}</thought>${turn.text}`;
}

function wholeMessage(turn: Turn, talk: ChatTalk): JsonObject {
  const text = content(turn, talk);
  if (turn.toolCalls.length === 0) return { role: "assistant", content: text };
  return { role: "assistant", ...(text === "" ? {} : { content: text }), tool_calls: toolCalls(turn, talk) };
}

/** Every delta has its role; a call comes whole and without `index`. */
function* deltas(turn: Turn, talk: ChatTalk): Generator<JsonObject> {
  yield* textDeltas(content(turn, talk), (piece) => ({ role: "assistant", content: piece }));
  for (const call of toolCalls(turn, talk)) yield { role: "assistant", tool_calls: [call] };
}

const wire: ChatWire = {
  rules,
  errors: compatErrors,
  usagePlace: "every-chunk",
  usageAlways: false,
  refuse: refuseSignatures,
  readPrompt,
  modelName: (model) => model.replace(/^models\//, ""),
  id: (identity) => identity.token("chat", 23),
  usage,
  message: wholeMessage,
  refusal: "filter",
  deltas,
  closingDelta: { role: "assistant", content: "" },
  finishReason: ({ finish }, { streamed }) => (streamed && finish === "tool_calls" ? "stop" : finish),
  finishReasonNull: false,
};

/** Chat completions of Google's OpenAI-compatible layer. */
export const chatRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/google/v1beta/openai/chat/completions",
    errors: compatErrors,
    handle: (call) => answerChat(call, wire),
  },
];
