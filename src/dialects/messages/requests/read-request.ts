import { efforts, GatewayError, type JsonObject, listOf } from "../../../core/index.ts";
import {
  checkToolCalls,
  type Conversation,
  conversationReader,
  invalid,
  member,
  optional,
  type OutputFormat,
  type Part,
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
  type Turn,
} from "../../conversation/index.ts";
import { readImage } from "../answers/images.ts";
import { messagesFields } from "../fields.ts";
import { readBlocks, readCache } from "./read-blocks.ts";
import { substituteOf } from "../client-tools.ts";
import { withToolChanges } from "./read-tool-changes.ts";

const readConversation = conversationReader({
  dialect: "messages",
  support: messagesFields,
  toolChoice: readToolChoice,
  format: ["output_config.format", readFormat],
  sampling: ["temperature", "top_p", "top_k"],
  stop: ["stop_sequences", (value, at) => readEach(value, at, readText)],
  serviceTier: readServiceTier,
  user: ["metadata.user_id", readText],
  own: ["max_tokens", "messages", "system", "thinking", "cache_control"],
});

/** Members of a tool that the model knows. */
const toolMembers: ReadonlySet<string> = new Set([
  "type",
  "name",
  "description",
  "input_schema",
  "strict",
  "cache_control",
]);

/** Reads a Messages body. Besides 422, throws `thread_unsupported_request` for one that leaves its history upstream. */
export function readMessagesRequest(body: JsonObject): Conversation {
  refuseThread(body);
  const turns = [...readSystem(body), ...readMessages(body)];
  checkToolCalls(turns);
  const choice = optional(body["tool_choice"], "tool_choice", readObject);
  const parallel = choice && member(choice, "disable_parallel_tool_use", "tool_choice", readFlag);
  const config = optional(body["output_config"], "output_config", readObject) ?? {};
  return readConversation(body, {
    turns,
    tools: () =>
      withToolChanges(
        optional(body["tools"], "tools", (value, at) => readEach(value, at, readTool)) ?? [],
        listOf(body["messages"]),
        readTool,
      ),
    parallelToolCalls: () => (parallel === undefined ? undefined : !parallel),
    outputTokensMax: () => readCount(body["max_tokens"], "max_tokens", 1),
    reasoning: () => readReasoning(body, config),
    cache: () => readCache(body, ""),
  });
}

/** On this error SDKs send the whole history instead. */
function refuseThread({ thread }: JsonObject): void {
  if (thread === undefined || thread === null) return;
  const message = "thread: this model's provider keeps no conversations; send all messages instead.";
  throw new GatewayError("thread_unsupported_request", message, { param: "thread" });
}

function readSystem(body: JsonObject): Turn[] {
  const parts = optional(body["system"], "system", readBlocks) ?? [];
  if (parts.length === 0) return [];
  return [{ role: "system", at: "system", parts: onlyText(parts) }];
}

function onlyText(parts: readonly Part[]): Part[] {
  return parts.map((part) => {
    if (part.kind === "text" || (part.kind === "native" && part.text !== undefined)) return part;
    throw invalid(`${part.at}.type`, "a system prompt holds text only");
  });
}

function readMessages(body: JsonObject): Turn[] {
  const messages = readList(body["messages"], "messages");
  if (messages.length === 0) throw invalid("messages", "must not be empty");
  return messages.map((message, index) => readTurn(message, `messages.${index}`, index === messages.length - 1));
}

function readTurn(value: unknown, at: string, last: boolean): Turn {
  const message = readObject(value, at);
  const role = readOneOf(message["role"], `${at}.role`, ["user", "assistant", "system"]);
  const parts = readBlocks(message["content"], `${at}.content`);
  if (parts.length === 0 && !(last && role === "assistant")) throw invalid(`${at}.content`, "must not be empty");
  if (role === "system") return { role, at, parts: onlyText(parts) };
  for (const part of parts) checkPlace(part, role);
  return { role, at, parts: role === "assistant" ? parts.map(imageOfText) : parts };
}

/** A text that the gateway has written for an image. */
function imageOfText(part: Part): Part {
  const image = part.kind === "text" ? readImage(part.text) : undefined;
  return image === undefined ? part : { ...image, at: part.at };
}

function checkPlace({ kind, at }: Part, role: "user" | "assistant"): void {
  const assistants = kind === "tool-call" || kind === "reasoning";
  const users = kind === "tool-result" || kind === "image" || kind === "file";
  if ((assistants && role === "user") || (users && role === "assistant")) {
    throw invalid(at ?? "messages", `has no place in a message of the ${role}`);
  }
}

/** The client runs Anthropic's others: a shell, an editor, a memory. */
const hostedTool = /^(?:web_search|web_fetch|code_execution|tool_search_tool)_/;

function readTool(value: unknown, at: string): Tool {
  const tool = readObject(value, at);
  const { type } = tool;
  if (type !== undefined && type !== null && type !== "custom") {
    const word = readWord(type, `${at}.type`);
    const substitute = substituteOf(word, tool);
    return {
      kind: "native",
      at,
      dialect: "messages",
      type: word,
      value: tool,
      hosted: hostedTool.test(word),
      substitute,
    };
  }
  const extras = Object.entries(tool).filter(([name]) => !toolMembers.has(name));
  return {
    kind: "function",
    at,
    name: readWord(tool["name"], `${at}.name`),
    description: member(tool, "description", at, readText),
    parameters: readObject(tool["input_schema"], `${at}.input_schema`),
    strict: member(tool, "strict", at, readFlag),
    cache: readCache(tool, at),
    extras: extras.length === 0 ? undefined : Object.fromEntries(extras),
  };
}

function readToolChoice(value: unknown, at: string): ToolChoice {
  const choice = readObject(value, at);
  const type = readOneOf(choice["type"], `${at}.type`, ["auto", "any", "tool", "none"]);
  if (type === "tool") return { mode: "tool", at, name: readWord(choice["name"], `${at}.name`), custom: false };
  return { mode: type === "any" ? "required" : type, at };
}

function readReasoning(body: JsonObject, config: JsonObject): ReasoningOptions | undefined {
  const effort = member(config, "effort", "output_config", (value, at) => readOneOf(value, at, efforts));
  const thinking = optional(body["thinking"], "thinking", readObject);
  if (thinking === undefined) return effort === undefined ? undefined : { effort };
  const display = member(thinking, "display", "thinking", readText);
  switch (readOneOf(thinking["type"], "thinking.type", ["enabled", "adaptive", "disabled", "between_tools"])) {
    case "enabled": {
      const budgetTokens = readCount(thinking["budget_tokens"], "thinking.budget_tokens", 1);
      return { mode: "budget", budgetTokens, effort, display };
    }
    case "adaptive":
      return { mode: "adaptive", effort, display };
    case "disabled":
      return { mode: "off", effort };
    case "between_tools":
      return { mode: "between-tools", effort, display };
  }
}

function readFormat(value: unknown, at: string): OutputFormat {
  const format = readObject(value, at);
  readOneOf(format["type"], `${at}.type`, ["json_schema"]);
  return { kind: "schema", at, schema: readObject(format["schema"], `${at}.schema`), strict: true };
}

function readServiceTier(value: unknown, at: string): string {
  const tier = readOneOf(value, at, ["auto", "standard_only"]);
  return tier === "standard_only" ? "default" : tier;
}
