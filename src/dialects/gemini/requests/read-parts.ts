import { isStoredUrl, type JsonObject, objectOf, stringOf } from "../../../core/index.ts";
import {
  checkBase64,
  invalid,
  member,
  type Part,
  readList,
  readObject,
  readText,
  readWord,
  type Source,
  sourceOfUrl,
  type ToolResultPart,
} from "../../conversation/index.ts";
import { inCamel } from "../camel.ts";
import { readSignature } from "../signatures.ts";
import type { OpenCalls } from "./open-calls.ts";

/** A list, or the one object that may stand for it. */
export function readListOf(value: unknown, at: string): readonly unknown[] {
  return objectOf(value) === undefined ? readList(value, at) : [value];
}

/** The parts of one content. `calls`: the calls before it that have no result. */
export function readParts(content: JsonObject, at: string, calls: OpenCalls): Part[] {
  if (content["parts"] === undefined || content["parts"] === null) return [];
  const parts: Part[] = [];
  for (const [index, value] of readListOf(content["parts"], `${at}.parts`).entries()) {
    const path = `${at}.parts.${index}`;
    for (const part of readPart(inCamel(readObject(value, path)), path, calls)) addPart(parts, part);
  }
  return parts;
}

/** A stream's pieces of a thought become one again: a signature ends it. */
function addPart(parts: Part[], part: Part): void {
  const last = parts.at(-1);
  if (part.kind !== "reasoning" || last?.kind !== "reasoning" || last.signature !== undefined) parts.push(part);
  else parts[parts.length - 1] = { ...last, text: last.text + part.text, signature: part.signature };
}

/** A part, with the signature that stands on it. */
function readPart(part: JsonObject, at: string, calls: OpenCalls): Part[] {
  const sealed = member(part, "thoughtSignature", at, readText) ?? "";
  const signature = sealed === "" ? undefined : readSignature(sealed);
  const { text, functionCall } = part;
  if (functionCall !== undefined)
    return [{ ...readCall(inCamel(readObject(functionCall, `${at}.functionCall`)), at, calls), signature }];
  if (part["thought"] === true && (text !== undefined || hasNoData(part))) {
    return [{ kind: "reasoning", at, text: text === undefined ? "" : readText(text, `${at}.text`), signature }];
  }
  const read = readData(part, at, calls);
  // A signature after the text of an answer.
  return signature === undefined ? read : [...read, { kind: "reasoning", at, text: "", signature }];
}

/** Modifiers of films, pictures and sound. */
const ownModifiers = ["videoMetadata", "mediaResolution", "mediaProcessing", "partMetadata", "speechMetadata"] as const;

/** Members that hold no content of their own. */
const modifiers: ReadonlySet<string> = new Set(["thought", "thoughtSignature", ...ownModifiers]);

function hasNoData(part: JsonObject): boolean {
  return Object.keys(part).every((name) => modifiers.has(name) || part[name] === undefined || part[name] === null);
}

function withModifiers(read: Part, part: JsonObject): Part {
  const own = ownModifiers.flatMap((name): [string, unknown][] =>
    (objectOf(part[name]) ?? stringOf(part[name])) ? [[name, part[name]]] : [],
  );
  return own.length === 0 ? read : { ...read, own: { dialect: "gemini", value: Object.fromEntries(own) } };
}

function readData(part: JsonObject, at: string, calls: OpenCalls): Part[] {
  const name = Object.keys(part).find(
    (each) => !modifiers.has(each) && part[each] !== undefined && part[each] !== null,
  );
  const path = `${at}.${name}`;
  switch (name) {
    case undefined:
      return [];
    case "text": {
      const text = readText(part[name], path);
      return text === "" ? [] : [{ kind: "text", at, text }];
    }
    case "inlineData":
      return [withModifiers(readInline(inCamel(readObject(part[name], path)), path), part)];
    case "fileData":
      return [withModifiers(readFile(inCamel(readObject(part[name], path)), path), part)];
    case "functionResponse":
      return [readResult(inCamel(readObject(part[name], path)), path, calls)];
    case "executableCode":
    case "codeExecutionResult":
    case "toolCall":
    case "toolResponse":
      return [{ kind: "native", at, dialect: "gemini", value: part, text: textOfRun(part) }];
    default:
      throw invalid(path.slice(0, 200), "is not a part that this model's provider can be given");
  }
}

/** The form in which others get a program that Google has run. */
function textOfRun({ executableCode, codeExecutionResult }: JsonObject): string {
  const code = stringOf(objectOf(executableCode)?.["code"]);
  const output = stringOf(objectOf(codeExecutionResult)?.["output"]);
  if (code !== "") return `\`\`\`python\n${code}\n\`\`\``;
  return output === "" ? "" : `Result of code that was run:\n${output}`;
}

function readInline(inline: JsonObject, at: string): Part {
  const data = readText(inline["data"], `${at}.data`);
  checkBase64(data, `${at}.data`);
  return mediaOf(
    { kind: "base64", mediaType: readWord(inline["mimeType"], `${at}.mimeType`).toLowerCase(), data },
    inline,
    at,
  );
}

function readFile(file: JsonObject, at: string): Part {
  const uri = readWord(file["fileUri"], `${at}.fileUri`);
  const isStored = /^(?:files\/|gs:)/i.test(uri) || isStoredUrl(uri);
  const source: Source = isStored ? { kind: "stored", id: uri } : sourceOfUrl(uri, `${at}.fileUri`);
  const mediaType = stringOf(file["mimeType"]) || undefined;
  return mediaOf(source.kind === "base64" ? source : { ...source, mediaType }, file, at);
}

const pictures = /\.(?:png|jpe?g|gif|webp|heic|heif)(?:[?#]|$)/i;

function mediaOf(source: Source, { mimeType, displayName }: JsonObject, at: string): Part {
  const type = stringOf(mimeType).toLowerCase();
  const isPicture = type === "" ? source.kind === "url" && pictures.test(source.url) : type.startsWith("image/");
  if (isPicture) return { kind: "image", at, source };
  if (type.startsWith("audio/") && source.kind === "base64") {
    return { kind: "audio", at, data: source.data, format: formatOf(type), mediaType: type };
  }
  return { kind: "file", at, source, name: stringOf(displayName) || undefined };
}

const formats: Readonly<Record<string, string>> = {
  mpeg: "mp3",
  mpga: "mp3",
  "x-wav": "wav",
  wave: "wav",
  "x-m4a": "m4a",
};

function formatOf(type: string): string {
  const subtype = type.slice("audio/".length).split(";")[0] ?? "";
  return Object.hasOwn(formats, subtype) ? (formats[subtype] ?? subtype) : subtype;
}

function readCall(call: JsonObject, at: string, calls: OpenCalls) {
  const path = `${at}.functionCall`;
  const name = readWord(call["name"], `${path}.name`);
  const callId = calls.begin(member(call, "id", path, readText), name, at);
  const args = member(call, "args", path, readObject) ?? {};
  return { kind: "tool-call", at: path, callId, name, arguments: JSON.stringify(args) } as const;
}

function readResult(result: JsonObject, at: string, calls: OpenCalls): ToolResultPart {
  const name = readWord(result["name"], `${at}.name`);
  const callId = calls.end(member(result, "id", at, readText), name);
  if (callId === undefined) throw invalid(at, "no function call before it has this id or name, and no result");
  const { text, isError } = readResponse(member(result, "response", at, readObject) ?? {});
  const content: Part[] = text === "" ? [] : [{ kind: "text", at, text }];
  const parts = member(result, "parts", at, readList) ?? [];
  for (const [index, value] of parts.entries()) {
    const path = `${at}.parts.${index}`;
    content.push(...readData(inCamel(readObject(value, path)), path, calls));
  }
  return { kind: "tool-result", at, callId, content, ...(isError ? { isError } : {}) };
}

/**
 * `output` and `error` are Google's names of a result and of a failure, `result` is that of its SDK for Python, and `content` of
 * Vercel's; any other object is the result itself.
 */
function readResponse(response: JsonObject): { text: string; isError: boolean } {
  const names = Object.keys(response);
  const [only] = names;
  if (names.length === 1 && only === "error") return { text: textOf(response["error"]), isError: true };
  const isNamed = names.length === 1 && (only === "output" || only === "result");
  const isVercels = names.length === 2 && "name" in response && "content" in response;
  const value = isVercels ? response["content"] : isNamed && only !== undefined ? response[only] : response;
  return { text: textOf(value), isError: false };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
