import type { TokenCounts, Turn } from "../shared/answer.ts";
import { type ChatRules, chatFields, checkToolPairs, shortToolName } from "../shared/chat/check.ts";
import { choiceLogprobs, fragmentedToolDeltas, plainUsage, turnDeltas, wholeMessage } from "../shared/chat/parts.ts";
import { readChatPrompt } from "../shared/chat/read-prompt.ts";
import { answerChat, type ChatTalk, type ChatWire } from "../shared/chat/wire.ts";
import { isOneOf, type Problem } from "../shared/check.ts";
import { asArray, asObject, type JsonObject } from "../shared/json.ts";
import type { Prompt } from "../shared/prompt.ts";
import type { ToolCall } from "../shared/tool-calls.ts";
import type { Route } from "../shared/types.ts";
import { deepseekErrors } from "./errors.ts";
import { thinksOnDemand } from "./models.ts";

const rules: ChatRules = {
  strict: false,
  roles: ["system", "user", "assistant", "tool"],
  toolName: shortToolName,
  fields: chatFields(["frequency_penalty", "logprobs", "presence_penalty", "stream_options", "thinking"], {
    reasoning_effort: isOneOf("low", "high", "max"),
  }),
};

function refuse(body: JsonObject): Problem | null {
  return refuseAll(body) ?? refusePrefix(body) ?? refuseEnd(body);
}

function refuseAll(body: JsonObject): Problem | null {
  return checkToolPairs(body) ?? refuseImages(body) ?? refuseFormat(body) ?? refuseLostReasoning(body);
}

const lastOf = (body: JsonObject): JsonObject => asObject(asArray(body["messages"]).at(-1));

/** `prefix` is known at the other base. */
function refusePrefix(body: JsonObject): Problem | null {
  if (lastOf(body)["prefix"] !== true) return null;
  const message = "The prefix of an answer is a beta feature: set the base URL to /beta to use it.";
  return { kind: "unsupported", field: "messages", message };
}

/** The last message is the user's, a tool's, or marked as the beginning of the answer. */
function refuseEnd(body: JsonObject): Problem | null {
  const { role, prefix } = lastOf(body);
  if (role !== "assistant" || prefix === true) return null;
  const message = `The last message of ${String(body["model"])} must be a user message, or an assistant message with prefix mode on.`;
  return { kind: "unsupported", field: "messages", message };
}

/** Only the vision model knows parts other than text. */
function refuseImages(body: JsonObject): Problem | null {
  if (String(body["model"]).includes("vision")) return null;
  const seen = readChatPrompt(body).messages.findIndex(({ attachments }) => attachments.length > 0);
  if (seen < 0) return null;
  return { kind: "wrong-type", field: `messages[${seen}]`, expected: "content parts of type `text`", value: null };
}

/** JSON answers need the word "json" in the prompt; schemas are not taken at all. */
function refuseFormat(body: JsonObject): Problem | null {
  const field = "response_format";
  const type = asObject(body[field])["type"];
  if (type === "json_schema")
    return { kind: "unsupported", field, message: "This response_format type is unavailable now" };
  if (type !== "json_object") return null;
  if (readChatPrompt(body).messages.some((message) => message.text.toLowerCase().includes("json"))) return null;
  const message = "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'.";
  return { kind: "unsupported", field, message };
}

/**
 * With tools, each earlier answer must have its reasoning, unless thinking is off: it is on by default. A model that thinks on demand
 * wants that of a tool loop alone.
 */
function refuseLostReasoning(body: JsonObject): Problem | null {
  const type = asObject(body["thinking"])["type"];
  const all = asArray(body["messages"]).map(asObject);
  const onDemand = thinksOnDemand.test(String(body["model"]));
  if (onDemand ? type !== "enabled" : type === "disabled" || asArray(body["tools"]).length === 0) return null;
  const asked = onDemand ? all.slice(all.findLastIndex(({ role }) => role === "user") + 1) : all;
  const lost = asked.some(({ role, tool_calls: calls, reasoning_content: thought }) => {
    return role === "assistant" && typeof thought !== "string" && (!onDemand || calls !== undefined);
  });
  if (!lost) return null;
  return {
    kind: "unsupported",
    field: "messages",
    message: "The `reasoning_content` in the thinking mode must be passed back to the API.",
  };
}

function readPrompt(body: JsonObject): Prompt {
  const prompt = readChatPrompt(body);
  return { ...prompt, choices: 1, reasoning: prompt.reasoning || body["model"] === "deepseek-reasoner" };
}

function usage(tokens: TokenCounts): JsonObject {
  return {
    ...plainUsage(tokens),
    prompt_tokens_details: { cached_tokens: tokens.cached },
    ...(tokens.reasoning === 0 ? {} : { completion_tokens_details: { reasoning_tokens: tokens.reasoning } }),
    prompt_cache_hit_tokens: tokens.cached,
    prompt_cache_miss_tokens: tokens.prompt - tokens.cached,
  };
}

function toolId(call: ToolCall): string {
  return `call_00_${call.label}`;
}

function writeMessage(turn: Turn): JsonObject {
  return wholeMessage(turn, { toolId, reasoning: "reasoning_content", nullContent: false });
}

function deltas(turn: Turn, talk: ChatTalk): Iterable<JsonObject> {
  const thinking = turn.reasoning !== "";
  return turnDeltas(turn, {
    opening: thinking
      ? { role: "assistant", content: null, reasoning_content: "" }
      : { role: "assistant", content: "" },
    reasoning: (piece) => ({ content: null, reasoning_content: piece }),
    text: (content) => (thinking ? { content, reasoning_content: null } : { content }),
    calls: fragmentedToolDeltas(turn, talk, toolId),
  });
}

const wire: ChatWire = {
  rules,
  errors: deepseekErrors,
  usagePlace: "own-chunk",
  usageAlways: false,
  refuse,
  readPrompt,
  id: (identity) => identity.uuid("chat"),
  envelope: () => ({ system_fingerprint: "fp_simulated" }),
  usage,
  message: writeMessage,
  refusal: "filter",
  failedReason: "insufficient_system_resource",
  choice: (_turn, told, talk) => ({ logprobs: choiceLogprobs(told, talk) }),
  deltas,
  closingDelta: { content: "" },
  finishReasonNull: true,
  // Under load the connection is held open with comments, or with blank lines before a whole answer.
  opening: [{ comment: "keep-alive" }, { comment: "keep-alive" }],
  lead: "\n\n\n",
};

/** The base for what is not stable yet: an answer may be continued there alone. */
const betaWire: ChatWire = { ...wire, refuse: (body) => refuseAll(body) ?? refuseEnd(body) };

/** Chat completions of DeepSeek. */
export const chatRoutes: readonly Route[] = [
  { method: "POST", path: "/deepseek/v1/chat/completions", handle: (call) => answerChat(call, wire) },
  { method: "POST", path: "/deepseek/beta/chat/completions", handle: (call) => answerChat(call, betaWire) },
];
