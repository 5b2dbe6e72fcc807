import { asArray, asObject, isObject, type JsonObject } from "./json.ts";

export interface PromptMessage {
  readonly role: string;
  /** The text of the message, content parts joined. */
  readonly text: string;
}

export interface PromptTool {
  readonly name: string;
  /** JSON Schema of the arguments. */
  readonly parameters: unknown;
}

/** Which tool is to be called: none, as the model likes, any, or the named one. */
export type ToolChoice =
  | { readonly mode: "none" | "auto" | "required" }
  | { readonly mode: "named"; readonly name: string };

export type AnswerFormat = { readonly kind: "text" } | { readonly kind: "json"; readonly schema: unknown };

/** What a request asks for, whatever dialect it came in. */
export interface Prompt {
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly PromptTool[];
  readonly toolChoice: ToolChoice;
  readonly parallelTools: boolean;
  readonly format: AnswerFormat;
  /** Most output tokens of one choice, reasoning included; Infinity without a limit. */
  readonly tokensMax: number;
  readonly stop: readonly string[];
  readonly choices: number;
  readonly reasoning: boolean;
}

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

function numberOr(value: unknown, fallback: number): number {
  return typeof value === "number" ? value : fallback;
}

function readMessage(message: unknown): PromptMessage {
  const fields = asObject(message);
  return { role: String(fields["role"]), text: contentText(fields["content"]) };
}

/** The text of a message's content, be it a string or parts. */
function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  const texts: string[] = [];
  for (const part of asArray(content)) {
    const text = asObject(part)["text"];
    if (typeof text === "string") texts.push(text);
  }
  return texts.join("\n");
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
  if (typeof effort === "string") return effort !== "none" && effort !== "minimal";
  const thinking = body["thinking"];
  return isObject(thinking) && thinking["type"] === "enabled";
}
