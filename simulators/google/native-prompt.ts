import { attachmentAt, inlineAttachment } from "../shared/attachments.ts";
import { asArray, asObject, isGiven, isObject, type JsonObject } from "../shared/json.ts";
import {
  type AnswerFormat,
  numberOr,
  type PartContent,
  type Prompt,
  type PromptMessage,
  type PromptTool,
  readContent,
  type ToolChoice,
} from "../shared/prompt.ts";
import { listIn } from "./native-body.ts";

/** Reads a request of generateContent whose shape was already checked. */
export function readNativePrompt(body: JsonObject): Prompt {
  const config = asObject(body["generationConfig"]);
  return {
    messages: [...readSystem(body["systemInstruction"]), ...listIn(body["contents"]).map(asObject).flatMap(readTurn)],
    tools: declarationsIn(body).map(readTool),
    toolChoice: readToolChoice(asObject(asObject(body["toolConfig"])["functionCallingConfig"])),
    parallelTools: true,
    format: readFormat(config),
    tokensMax: numberOr(config["maxOutputTokens"], Infinity),
    stop: asArray(config["stopSequences"]).map(String),
    choices: numberOr(config["candidateCount"], 1),
    reasoning: wantsThoughts(asObject(config["thinkingConfig"])),
  };
}

/** The functions that a request declares. */
export function declarationsIn(body: JsonObject): JsonObject[] {
  return listIn(body["tools"])
    .map(asObject)
    .flatMap((tool) => listIn(tool["functionDeclarations"]).map(asObject));
}

function readSystem(value: unknown): PromptMessage[] {
  if (!isGiven(value)) return [];
  return [readContent("system", typeof value === "string" ? value : listIn(asObject(value)["parts"]), readPart)];
}

/** Results of functions are messages of their own, before the user's words. */
function readTurn({ role, parts }: JsonObject): PromptMessage[] {
  const all = listIn(parts).map(asObject);
  if (role === "model") {
    const calledTools = all.some((part) => isObject(part["functionCall"]));
    return [readContent("assistant", all, readPart, { calledTools })];
  }
  const others = all.filter((part) => !isObject(part["functionResponse"]));
  const results = all.flatMap((part) =>
    isObject(part["functionResponse"]) ? [readResult(part["functionResponse"])] : [],
  );
  return others.length === 0 ? results : [...results, readContent("user", others, readPart)];
}

function readResult(result: JsonObject): PromptMessage {
  const response = asObject(result["response"]);
  const [only] = Object.keys(response);
  const isNamed = Object.keys(response).length === 1 && ["output", "result", "error"].includes(only ?? "");
  const told = isNamed ? response[only ?? ""] : response;
  const text = typeof told === "string" ? told : JSON.stringify(told);
  return readContent("tool", [{ text }, ...asArray(result["parts"])], readPart, {
    failed: isNamed && only === "error",
  });
}

function readPart(value: unknown): PartContent {
  const part = asObject(value);
  if (part["thought"] === true) return {};
  if (isObject(part["inlineData"])) {
    const { mimeType, data } = part["inlineData"];
    return { attachment: inlineAttachment(kindOf(String(mimeType)), String(mimeType), String(data)) };
  }
  if (isObject(part["fileData"])) {
    const { mimeType, fileUri } = part["fileData"];
    return { attachment: attachmentAt(kindOf(String(mimeType)), String(fileUri)) };
  }
  return typeof part["text"] === "string" ? { text: part["text"] } : {};
}

function kindOf(mimeType: string): "image" | "audio" | "video" | "file" {
  const [, kind] = /^(image|audio|video)\//.exec(mimeType) ?? [];
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "file";
}

function readTool(declared: JsonObject): PromptTool {
  const schema = declared["parametersJsonSchema"] ?? plainSchema(declared["parameters"]);
  return { name: String(declared["name"]), parameters: schema ?? { type: "object", properties: {} } };
}

/** Google's own schemas have types in capitals. */
function plainSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainSchema);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === "type" && typeof member === "string" ? member.toLowerCase() : plainSchema(member),
    ]),
  );
}

function readToolChoice({ mode, allowedFunctionNames }: JsonObject): ToolChoice {
  if (mode === "NONE") return { mode: "none" };
  if (mode !== "ANY") return { mode: "auto" };
  const names = asArray(allowedFunctionNames).map(String);
  const [name] = names;
  return names.length === 1 && name !== undefined ? { mode: "named", name } : { mode: "required" };
}

function readFormat(config: JsonObject): AnswerFormat {
  if (config["responseMimeType"] !== "application/json") return { kind: "text" };
  return { kind: "json", schema: config["responseJsonSchema"] ?? plainSchema(config["responseSchema"]) ?? null };
}

function wantsThoughts(config: JsonObject): boolean {
  const { thinkingBudget, thinkingLevel, includeThoughts } = config;
  if (thinkingBudget === 0 || String(thinkingLevel).toUpperCase() === "MINIMAL") return false;
  return isGiven(thinkingBudget) || isGiven(thinkingLevel) || includeThoughts === true;
}
