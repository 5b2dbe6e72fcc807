import { type Effort, efforts, type JsonObject, objectOf } from "../../../core/index.ts";
import {
  checkToolCalls,
  type Conversation,
  invalid,
  member,
  optional,
  type OutputFormat,
  readCount,
  readFlag,
  readList,
  readNumber,
  readObject,
  readOneOf,
  readText,
  readWord,
  type ReasoningOptions,
  type Tool,
  type ToolChoice,
} from "../../conversation/index.ts";
import { chatFields } from "../fields.ts";
import { readCache } from "./read-parts.ts";
import { readTurn } from "./read-turn.ts";

/** Fields with a member in the model; the others are carried by name. */
const known: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "stream",
  "max_completion_tokens",
  "max_tokens",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "response_format",
  "reasoning_effort",
  "stop",
  "temperature",
  "top_p",
  "top_k",
  "frequency_penalty",
  "presence_penalty",
  "seed",
  "logprobs",
  "top_logprobs",
  "verbosity",
  "service_tier",
  "user",
]);

const knownWithoutEffort: ReadonlySet<string> = new Set([...known].filter((name) => name !== "reasoning_effort"));

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
  return {
    model: readWord(body["model"], "model"),
    turns,
    tools: optional(body["tools"], "tools", readTools) ?? [],
    toolChoice: optional(body["tool_choice"], "tool_choice", readToolChoice),
    parallelToolCalls: member(body, "parallel_tool_calls", "", readFlag),
    format: optional(body["response_format"], "response_format", readFormat),
    sampling: {
      temperature: member(body, "temperature", "", readNumber),
      topP: member(body, "top_p", "", readNumber),
      topK: member(body, "top_k", "", readNumber),
      frequencyPenalty: member(body, "frequency_penalty", "", readNumber),
      presencePenalty: member(body, "presence_penalty", "", readNumber),
      seed: member(body, "seed", "", readNumber),
    },
    stop: optional(body["stop"], "stop", readStop) ?? [],
    outputTokensMax: member(body, "max_completion_tokens", "", readLimit) ?? member(body, "max_tokens", "", readLimit),
    reasoning: readReasoning(body, effort),
    logprobs: readLogprobs(body),
    serviceTier: member(body, "service_tier", "", readText),
    verbosity: member(body, "verbosity", "", readText),
    user: member(body, "user", "", readText),
    cache: undefined,
    stream: member(body, "stream", "", readFlag) ?? false,
    rest: { dialect: "chat", table: chatFields, body, known: isDefault ? knownWithoutEffort : known },
  };
}

/** `thinking` is a member of several upstreams, each with its own content: what Anthropic's has is read, and other content is not refused. */
function readReasoning(body: JsonObject, effort: Effort | undefined): ReasoningOptions | undefined {
  const thinking = objectOf(body["thinking"]);
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
  return readList(value, at).map((one, index) => readText(one, `${at}.${index}`));
}

function readTools(value: unknown, at: string): Tool[] {
  return readList(value, at).map((tool, index) => readTool(readObject(tool, `${at}.${index}`), `${at}.${index}`));
}

function readTool(tool: JsonObject, at: string): Tool {
  switch (typeOf(tool)) {
    case "function": {
      const fn = readObject(tool["function"], `${at}.function`);
      return {
        kind: "function",
        at,
        name: readWord(fn["name"], `${at}.function.name`),
        description: member(fn, "description", `${at}.function`, readText),
        parameters: member(fn, "parameters", `${at}.function`, readObject),
        strict: member(fn, "strict", `${at}.function`, readFlag),
        cache: readCache(tool),
      };
    }
    case "custom": {
      const custom = readObject(tool["custom"], `${at}.custom`);
      return {
        kind: "custom",
        at,
        name: readWord(custom["name"], `${at}.custom.name`),
        description: member(custom, "description", `${at}.custom`, readText),
        format: member(custom, "format", `${at}.custom`, readObject),
      };
    }
    default:
      readWord(tool["type"], `${at}.type`);
      return { kind: "native", at, dialect: "chat", value: tool, hosted: false };
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

function readFormat(value: unknown, at: string): OutputFormat {
  const format = readObject(value, at);
  const type = readOneOf(format["type"], `${at}.type`, ["text", "json_object", "json_schema"]);
  if (type === "text") return { kind: "text", at };
  if (type === "json_object") return { kind: "json", at };
  const path = `${at}.json_schema`;
  const schema = readObject(format["json_schema"], path);
  return {
    kind: "schema",
    at,
    name: member(schema, "name", path, readWord),
    description: member(schema, "description", path, readText),
    schema: member(schema, "schema", path, readObject) ?? {},
    strict: member(schema, "strict", path, readFlag),
  };
}
