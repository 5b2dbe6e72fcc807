import { attachmentAt, inlineAttachment } from "../shared/attachments.ts";
import { asArray, asObject, type JsonObject } from "../shared/json.ts";
import {
  type AnswerFormat,
  numberOr,
  type PartContent,
  type Prompt,
  type PromptMessage,
  readContent,
  type ToolChoice,
} from "../shared/prompt.ts";
import { wantsThinking } from "./thinking.ts";

/** One block of a request with the place that it has in it. */
export interface PlacedBlock {
  readonly role: string;
  /** Index of its message; -1 for the system prompt. */
  readonly message: number;
  /** Index in the content of its message. */
  readonly index: number;
  readonly block: JsonObject;
}

/** All blocks of a request in the order in which the model reads them; a text counts as one text block. */
export function placedBlocks(body: JsonObject): PlacedBlock[] {
  const messages = asArray(body["messages"]).map(asObject);
  return [...placeContent({ role: "system", content: body["system"] }, -1), ...messages.flatMap(placeContent)];
}

function placeContent({ role, content }: JsonObject, message: number): PlacedBlock[] {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : asArray(content).map(asObject);
  return blocks.map((block, index) => ({ role: String(role), message, index, block }));
}

/** The conversation of some blocks: each tool result is a separate message, before the other blocks of its turn. */
export function promptMessages(placed: readonly PlacedBlock[]): PromptMessage[] {
  const byMessage = Map.groupBy(placed, ({ message }) => message);
  return [...byMessage.values()].flatMap((blocks) => {
    const results = blocks.filter(({ block }) => block["type"] === "tool_result");
    const others = blocks.filter(({ block }) => block["type"] !== "tool_result");
    return [...results.map(({ block }) => readResult(block)), ...readMessage(others)];
  });
}

function readResult(block: JsonObject): PromptMessage {
  return readContent("tool", block["content"], readBlock, { failed: block["is_error"] === true });
}

function readMessage(placed: readonly PlacedBlock[]): PromptMessage[] {
  const [first] = placed;
  if (first === undefined) return [];
  const blocks = placed.map(({ block }) => block);
  const calledTools = blocks.some((block) => block["type"] === "tool_use");
  return [readContent(first.role, blocks, readBlock, { calledTools })];
}

function readBlock(part: unknown): PartContent {
  const block = asObject(part);
  const type = block["type"];
  if (type === "text") return { text: String(block["text"]) };
  if (type !== "image" && type !== "document") return {};
  const kind = type === "image" ? "image" : "file";
  const source = asObject(block["source"]);
  if (source["type"] === "base64") {
    return { attachment: inlineAttachment(kind, String(source["media_type"]), String(source["data"])) };
  }
  if (source["type"] === "text") return { text: String(source["data"]) };
  const address = [source["url"], source["file_id"]].find((place) => typeof place === "string");
  return { attachment: attachmentAt(kind, address ?? "inline") };
}

/** Reads a request whose shape was already checked. */
export function readMessagesPrompt(body: JsonObject): Prompt {
  const messages = promptMessages(placedBlocks(body));
  const choice = asObject(body["tool_choice"]);
  return {
    messages,
    tools: asArray(body["tools"])
      .map(asObject)
      .filter((tool) => tool["input_schema"] !== undefined)
      .map((tool) => ({ name: String(tool["name"]), parameters: tool["input_schema"] })),
    toolChoice: readToolChoice(choice),
    parallelTools: choice["disable_parallel_tool_use"] !== true,
    format: readFormat(body),
    tokensMax: numberOr(body["max_tokens"], Infinity),
    stop: asArray(body["stop_sequences"]).map(String),
    choices: 1,
    reasoning: wantsThinking(body, messages.at(-1)?.role === "tool"),
  };
}

function readToolChoice({ type, name }: JsonObject): ToolChoice {
  if (type === "none") return { mode: "none" };
  if (type === "any") return { mode: "required" };
  return type === "tool" ? { mode: "named", name: String(name) } : { mode: "auto" };
}

function readFormat(body: JsonObject): AnswerFormat {
  const format = asObject(asObject(body["output_config"])["format"]);
  return format["type"] === "json_schema" ? { kind: "json", schema: format["schema"] } : { kind: "text" };
}
