import type { TokenCounts, Turn } from "../shared/answer.ts";
import { type ChatRules, chatFields, shortToolName } from "../shared/chat/check.ts";
import { indexedToolCalls, plainUsage, turnDeltas, wholeToolCalls } from "../shared/chat/parts.ts";
import { readChatPrompt } from "../shared/chat/read-prompt.ts";
import { answerChat, type ChatWire } from "../shared/chat/wire.ts";
import { isFlag, isInteger, isList, isOneOf, type Problem } from "../shared/check.ts";
import { asArray, asObject, type JsonObject } from "../shared/json.ts";
import { refuseLateSystem } from "../shared/limits.ts";
import type { Prompt } from "../shared/prompt.ts";
import { first } from "../shared/shape.ts";
import type { ToolCall } from "../shared/tool-calls.ts";
import type { Route } from "../shared/types.ts";
import { mistralErrors } from "./errors.ts";

const rules: ChatRules = {
  strict: true,
  roles: ["system", "user", "assistant", "tool"],
  toolName: shortToolName,
  fields: chatFields(
    ["frequency_penalty", "metadata", "n", "parallel_tool_calls", "prediction", "presence_penalty", "prompt_cache_key"],
    {
      guardrails: isList,
      prompt_mode: isOneOf("reasoning"),
      random_seed: isInteger(0, Number.MAX_SAFE_INTEGER),
      reasoning_effort: isOneOf("none", "high"),
      safe_prompt: isFlag,
    },
  ),
};

function refuse(body: JsonObject): Problem | null {
  return refuseMembers(body) ?? refuseRoles(body) ?? refuseCallIds(body) ?? refuseEnd(body);
}

const messageMembers = new Set(["role", "content", "prefix", "tool_calls", "tool_call_id"]);

/** Messages are closed schemas too: thoughts return as parts of the content alone. */
function refuseMembers(body: JsonObject): Problem | null {
  return first(asArray(body["messages"]).map(asObject).entries(), ([index, message]) => {
    const isNamed = message["role"] === "tool";
    const unknown = Object.keys(message).find((name) => !messageMembers.has(name) && !(isNamed && name === "name"));
    if (unknown === undefined) return null;
    return { kind: "unknown", field: `messages[${index}].${unknown}`, value: message[unknown] };
  });
}

function refuseRoles(body: JsonObject): Problem | null {
  return refuseLateSystem(body, (before) => `Unexpected role 'system' after role '${before}'`);
}

/** Ids of calls are taken in the format of Mistral's own alone. */
function refuseCallIds(body: JsonObject): Problem | null {
  return first(asArray(body["messages"]).map(asObject).entries(), ([index, message]) => {
    const ids = [message["tool_call_id"], ...asArray(message["tool_calls"]).map((call) => asObject(call)["id"])];
    const wrong = ids.filter((id) => typeof id === "string").find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
    if (wrong === undefined) return null;
    const why = `Tool call id was ${wrong} but must be a-z, A-Z, 0-9, with a length of 9.`;
    return { kind: "unsupported", field: `messages[${index}]`, message: why };
  });
}

/** The conversation must end with a user, a tool, or a prefix of the answer. */
function refuseEnd(body: JsonObject): Problem | null {
  const last = asObject(asArray(body["messages"]).at(-1));
  const role = last["role"];
  if (role === "user" || role === "tool" || (role === "assistant" && last["prefix"] === true)) return null;
  const message = `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${String(role)}`;
  return { kind: "unsupported", field: "messages", message };
}

function readPrompt(body: JsonObject): Prompt {
  const prompt = readChatPrompt(body);
  const thinks = body["prompt_mode"] === "reasoning" || String(body["model"]).startsWith("magistral");
  return { ...prompt, reasoning: prompt.reasoning || thinks };
}

function usage(tokens: TokenCounts): JsonObject {
  const cached = tokens.cached === 0 ? {} : cachedCounts(tokens.cached);
  return { ...plainUsage(tokens), ...cached };
}

function cachedCounts(cached: number): JsonObject {
  return { num_cached_tokens: cached, prompt_tokens_details: { cached_tokens: cached } };
}

/** Exactly nine letters and digits. */
function toolId(call: ToolCall): string {
  return call.label.slice(0, 9);
}

function thinkingChunk(text: string): JsonObject {
  return { type: "thinking", thinking: [{ type: "text", text }] };
}

/** Text, or chunks if there is thinking as well. */
function content(turn: Turn): unknown {
  return turn.reasoning === "" ? turn.text : [thinkingChunk(turn.reasoning), { type: "text", text: turn.text }];
}

function writeMessage(turn: Turn): JsonObject {
  const calls = turn.toolCalls.length === 0 ? null : wholeToolCalls(turn.toolCalls, toolId);
  return { role: "assistant", tool_calls: calls, content: content(turn) };
}

/** All tool calls come whole in one chunk. */
function deltas(turn: Turn): Iterable<JsonObject> {
  const calls = { content: "", tool_calls: indexedToolCalls(turn.toolCalls, toolId) };
  return turnDeltas(turn, {
    opening: { role: "assistant", content: "" },
    reasoning: (piece) => ({ content: [thinkingChunk(piece)] }),
    calls: turn.toolCalls.length === 0 ? [] : [calls],
  });
}

const wire: ChatWire = {
  rules,
  errors: mistralErrors,
  usagePlace: "finish-chunk",
  usageAlways: true,
  refuse,
  readPrompt,
  id: (identity) => identity.hex("chat", 32),
  usage,
  message: writeMessage,
  refusal: "text",
  failedReason: "error",
  deltas,
  closingDelta: { content: "" },
  finishReasonNull: true,
};

/** Chat completions of Mistral: strict about unknown fields, usage always in the last chunk. */
export const chatRoutes: readonly Route[] = [
  { method: "POST", path: "/mistral/v1/chat/completions", handle: (call) => answerChat(call, wire) },
];
