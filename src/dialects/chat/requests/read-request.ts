import { type Effort, efforts, type JsonObject, objectOf } from "../../../core/index.ts";
import {
  checkToolCalls,
  type Conversation,
  conversationReader,
  invalid,
  member,
  optional,
  readCount,
  readEach,
  readFlag,
  readList,
  readObject,
  readOneOf,
  readText,
  readWord,
  type ReasoningOptions,
  type Tool,
  type ToolChoice,
} from "../../conversation/index.ts";
import { nested, readFormat, readTool } from "../../openai-requests.ts";
import { chatFields } from "../fields.ts";
import { readCache } from "./read-parts.ts";
import { readTurn } from "./read-turn.ts";

const readConversation = conversationReader({
  dialect: "chat",
  support: chatFields,
  toolChoice: readToolChoice,
  format: ["response_format", (value, at) => readFormat(value, at, nested)],
  sampling: ["temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty", "seed"],
  stop: ["stop", readStop],
  verbosity: ["verbosity", readText],
  user: ["user", readText],
  own: [
    "messages",
    "parallel_tool_calls",
    "max_completion_tokens",
    "max_tokens",
    "reasoning_effort",
    "logprobs",
    "top_logprobs",
  ],
});

/** Reads a chat completions body. */
export function readChatRequest(body: JsonObject): Conversation {
  const messages = readList(body["messages"], "messages");
  if (messages.length === 0) throw invalid("messages", "must not be empty");
  const turns = messages.map((message, index) => readTurn(message, `messages.${index}`));
  checkToolCalls(turns);
  // Groq's word for what its models do by themselves: only for an upstream of this dialect.
  const isDefault = body["reasoning_effort"] === "default";
  const effort = isDefault
    ? undefined
    : member(body, "reasoning_effort", "", (value, at) => readOneOf(value, at, efforts));
  const conversation = readConversation(body, {
    turns,
    tools: () => optional(body["tools"], "tools", (value, at) => readEach(value, at, readAnyTool)) ?? [],
    parallelToolCalls: () => member(body, "parallel_tool_calls", "", readFlag),
    outputTokensMax: () =>
      member(body, "max_completion_tokens", "", readLimit) ?? member(body, "max_tokens", "", readLimit),
    reasoning: () => readReasoning(body, effort),
    logprobs: () => readLogprobs(body),
  });
  if (!isDefault) return conversation;
  const known = new Set(conversation.rest.known);
  known.delete("reasoning_effort");
  return { ...conversation, rest: { ...conversation.rest, known } };
}

/**
 * `thinking` is a member of several upstreams, each with its own content: what Anthropic's has is read, and other content is not refused.
 * `reasoning` is OpenRouter's.
 */
function readReasoning(body: JsonObject, named: Effort | undefined): ReasoningOptions | undefined {
  const thinking = objectOf(body["thinking"]);
  const { effort: own, max_tokens: tokens, enabled } = objectOf(body["reasoning"]) ?? {};
  const effort = named ?? efforts.find((one) => one === own);
  if (typeof tokens === "number" && Number.isInteger(tokens) && tokens > 0)
    return { mode: "budget", budgetTokens: tokens, effort };
  if (enabled === false) return { mode: "off", effort };
  if (enabled === true && effort === undefined) return { mode: "adaptive" };
  const budget = thinking?.["budget_tokens"];
  if (thinking?.["type"] === "enabled" && typeof budget === "number" && Number.isInteger(budget) && budget > 0)
    return { mode: "budget", budgetTokens: budget, effort };
  if (thinking?.["type"] === "adaptive") return { mode: "adaptive", effort };
  if (thinking?.["type"] === "disabled") return { mode: "off", effort };
  return effort === undefined ? undefined : { effort };
}

const readLimit = (value: unknown, at: string): number => readCount(value, at, 1);

function readLogprobs(body: JsonObject): number | undefined {
  const wanted = member(body, "logprobs", "", readFlag) ?? false;
  const top = member(body, "top_logprobs", "", (value, at) => readCount(value, at, 0));
  if (!wanted && (top ?? 0) > 0) throw invalid("top_logprobs", "needs logprobs to be true");
  return wanted ? (top ?? 0) : undefined;
}

function readStop(value: unknown, at: string): string[] {
  if (typeof value === "string") return [value];
  return readEach(value, at, readText);
}

function readAnyTool(value: unknown, at: string): Tool {
  const tool = readObject(value, at);
  switch (typeOf(tool)) {
    case "function":
    case "custom":
      return readTool(tool, at, nested, { cache: readCache(tool) });
    default:
      return {
        kind: "native",
        at,
        dialect: "chat",
        type: readWord(tool["type"], `${at}.type`),
        value: tool,
        hosted: false,
      };
  }
}

function readToolChoice(value: unknown, at: string): ToolChoice {
  if (typeof value === "string") return { mode: readOneOf(value, at, ["auto", "required", "none"]), at };
  const choice = readObject(value, at);
  switch (typeOf(choice)) {
    case "function":
    case "custom":
      return { mode: "tool", at, ...readNamed(choice, at) };
    case "allowed_tools": {
      const allowed = readObject(choice["allowed_tools"], `${at}.allowed_tools`);
      const list = readList(allowed["tools"], `${at}.allowed_tools.tools`);
      return {
        mode: readOneOf(allowed["mode"], `${at}.allowed_tools.mode`, ["auto", "required"]),
        at,
        allowed: list.map((tool, index) => {
          const path = `${at}.allowed_tools.tools.${index}`;
          return readNamed(readObject(tool, path), path);
        }),
      };
    }
    default:
      throw invalid(`${at}.type`, "must be function, custom or allowed_tools");
  }
}

/** Upstreams do without the type of a function. */
function typeOf(value: JsonObject): unknown {
  const { type } = value;
  return (type === undefined || type === null) && objectOf(value["function"]) !== undefined ? "function" : type;
}

function readNamed(choice: JsonObject, at: string): { name: string; custom: boolean } {
  const type = readOneOf(typeOf(choice), `${at}.type`, ["function", "custom"]);
  return { name: readWord(objectOf(choice[type])?.["name"], `${at}.${type}.name`), custom: type === "custom" };
}
