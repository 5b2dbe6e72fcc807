import { attachmentAt } from "../attachments.ts";
import { asArray, asObject, type JsonObject } from "../json.ts";
import {
  type AnswerFormat,
  numberOr,
  type PartContent,
  type Prompt,
  type PromptMessage,
  type PromptTool,
  readContent,
  type ToolChoice,
} from "../prompt.ts";

/** Reads a request whose shape was already checked; `items` are all items so far. */
export function readResponsesPrompt(body: JsonObject, items: readonly JsonObject[], reasoning: boolean): Prompt {
  const instructions = body["instructions"];
  const system = typeof instructions === "string" ? [readContent("system", instructions, readPart)] : [];
  return {
    messages: [...system, ...readItems(items)],
    tools: asArray(body["tools"]).flatMap(readTool),
    toolChoice: readToolChoice(body["tool_choice"]),
    parallelTools: body["parallel_tool_calls"] !== false,
    format: readFormat(asObject(body["text"])["format"]),
    tokensMax: numberOr(body["max_output_tokens"], Infinity),
    stop: [],
    choices: 1,
    reasoning,
  };
}

/** Calls that stand side by side are one message, as they are in the other dialects. */
function readItems(items: readonly JsonObject[]): PromptMessage[] {
  const told = items.filter((item) => item["type"] !== "reasoning");
  return told.flatMap((item, index) => {
    const type = String(item["type"]);
    if (isCallOutput(type)) return [readContent("tool", item["output"], readPart)];
    if (type === "message") return [readContent(String(item["role"]), item["content"], readPart)];
    // Items of hosted tools, and those that are not known here, say nothing.
    if (!isCall(type) || isCall(String(told[index - 1]?.["type"]))) return [];
    return [readContent("assistant", "", readPart, { calledTools: true })];
  });
}

function readPart(part: unknown): PartContent {
  const fields = asObject(part);
  const type = String(fields["type"]);
  const address = addressOf(fields);
  if (type === "input_image") return { attachment: attachmentAt("image", address) };
  if (type === "input_file") return { attachment: attachmentAt("file", address) };
  if (type === "input_video") return { attachment: attachmentAt("video", address) };
  if (type === "input_audio") return { attachment: attachmentAt("audio", address) };
  const text = fields["text"] ?? fields["refusal"];
  return typeof text === "string" ? { text } : {};
}

/** The source of a part's content: inline, a URL, or an uploaded file. */
function addressOf(part: JsonObject): string {
  const members = ["image_url", "file_data", "file_url", "video_url", "audio_url", "file_id"];
  const found = members.map((member) => part[member]).find((address) => typeof address === "string");
  return found ?? "unknown";
}

const isCall = (type: string): boolean => type === "function_call" || type === "custom_tool_call";
const isCallOutput = (type: string): boolean => type === "function_call_output" || type === "custom_tool_call_output";

/** The tools that the caller runs, those within namespaces included. */
function readTool(tool: unknown): PromptTool[] {
  const { type, name, parameters, tools } = asObject(tool);
  if (type === "namespace")
    return asArray(tools)
      .flatMap(readTool)
      .map((one) => ({ ...one, namespace: String(name) }));
  if (type === "custom") return [{ name: String(name), parameters: {}, custom: true }];
  return type === "function" ? [{ name: String(name), parameters: parameters ?? {} }] : [];
}

function readToolChoice(choice: unknown): ToolChoice {
  if (choice === "none" || choice === "required") return { mode: choice };
  const { type, name } = asObject(choice);
  return type === "function" ? { mode: "named", name: String(name) } : { mode: "auto" };
}

function readFormat(format: unknown): AnswerFormat {
  const { type, schema } = asObject(format);
  if (type === "json_object") return { kind: "json", schema: null };
  return type === "json_schema" ? { kind: "json", schema: schema ?? {} } : { kind: "text" };
}
