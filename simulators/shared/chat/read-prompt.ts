import { attachmentAt, inlineAttachment } from "../attachments.ts";
import { asArray, asObject, isObject, type JsonObject } from "../json.ts";
import {
  type AnswerFormat,
  isThinkingEffort,
  numberOr,
  type PartContent,
  type Prompt,
  type PromptMessage,
  type PromptTool,
  readContent,
  type ToolChoice,
} from "../prompt.ts";

/** Reads a chat request whose shape was already checked. */
export function readChatPrompt(body: JsonObject): Prompt {
  return {
    messages: asArray(body["messages"]).map(readMessage),
    tools: asArray(body["tools"]).flatMap(readTool),
    toolChoice: readToolChoice(body["tool_choice"]),
    parallelTools: body["parallel_tool_calls"] !== false,
    format: readFormat(body["response_format"]),
    tokensMax: numberOr(body["max_completion_tokens"], numberOr(body["max_tokens"], Infinity)),
    stop: readStop(body["stop"]),
    choices: numberOr(body["n"], 1),
    reasoning: wantsReasoning(body),
  };
}

function readMessage(message: unknown): PromptMessage {
  const fields = asObject(message);
  const calledTools = asArray(fields["tool_calls"]).length > 0;
  return readContent(String(fields["role"]), fields["content"], readPart, { calledTools });
}

function readPart(part: unknown): PartContent {
  const fields = asObject(part);
  const address = urlOf(fields["image_url"]);
  if (address !== null) return { attachment: attachmentAt("image", address) };
  const video = urlOf(fields["video_url"]);
  if (video !== null) return { attachment: attachmentAt("video", video) };
  if (isObject(fields["file"])) return { attachment: attachmentAt("file", fileSource(fields["file"])) };
  const audio = fields["input_audio"];
  if (isObject(audio)) {
    return { attachment: inlineAttachment("audio", `audio/${String(audio["format"])}`, String(audio["data"])) };
  }
  return typeof fields["text"] === "string" ? { text: fields["text"] } : {};
}

/** Mistral accepts the URL itself instead of an object around it. */
function urlOf(value: unknown): string | null {
  const url = typeof value === "string" ? value : asObject(value)["url"];
  return typeof url === "string" ? url : null;
}

function fileSource(file: JsonObject): string {
  return String(file["file_data"] ?? file["file_id"]);
}

function readTool(tool: unknown): PromptTool[] {
  const described = asObject(asObject(tool)["function"]);
  if (typeof described["name"] !== "string") return [];
  return [{ name: described["name"], parameters: described["parameters"] ?? {} }];
}

function readToolChoice(choice: unknown): ToolChoice {
  if (choice === "none") return { mode: "none" };
  if (choice === "required" || choice === "any") return { mode: "required" };
  const name = asObject(asObject(choice)["function"])["name"];
  return typeof name === "string" ? { mode: "named", name } : { mode: "auto" };
}

function readFormat(format: unknown): AnswerFormat {
  const fields = asObject(format);
  if (fields["type"] === "json_object") return { kind: "json", schema: null };
  if (fields["type"] === "json_schema")
    return { kind: "json", schema: asObject(fields["json_schema"])["schema"] ?? {} };
  return { kind: "text" };
}

function readStop(stop: unknown): string[] {
  const stops = typeof stop === "string" ? [stop] : asArray(stop);
  return stops.filter((entry): entry is string => typeof entry === "string" && entry !== "");
}

function wantsReasoning(body: JsonObject): boolean {
  const effort = body["reasoning_effort"];
  if (typeof effort === "string") return isThinkingEffort(effort);
  return asObject(body["thinking"])["type"] === "enabled";
}
