import type { JsonObject } from "../../../core/index.ts";
import {
  type CacheMark,
  checkBase64,
  type FilePart,
  type ImagePart,
  invalid,
  member,
  type Part,
  readList,
  readObject,
  readText,
  readWord,
  type Source,
  sourceOfUrl,
  type TextPart,
} from "../../conversation/index.ts";
import { readCitation } from "../answers/citations.ts";

/** The content of a message or the output of a tool: a string, or a list of parts. */
export function readContent(content: unknown, at: string): Part[] {
  if (typeof content === "string") return [{ kind: "text", at, text: content }];
  if (!Array.isArray(content)) throw invalid(at, "must be a string or an array");
  return content.map((part: unknown, index) => readPart(readObject(part, `${at}.${index}`), `${at}.${index}`));
}

function readPart(part: JsonObject, at: string): Part {
  const cache = readCache(part, at);
  switch (part["type"]) {
    case "input_text":
    case "output_text":
    case "text":
      return { ...readTextPart(part, at), cache };
    case "refusal":
      return { kind: "refusal", at, text: readText(part["refusal"], `${at}.refusal`) };
    case "input_image":
      return { ...readImage(part, at), cache };
    case "input_file":
      return { ...readFile(part, at), cache };
    case "input_audio":
      return readAudio(part, at);
    default:
      throw invalid(`${at}.type`, "is not a type of content that this model's provider can be given");
  }
}

/** OpenAI's cache mark has no selectable lifetime. */
function readCache(part: JsonObject, at: string): CacheMark | undefined {
  return member(part, "prompt_cache_breakpoint", at, readObject) === undefined ? undefined : {};
}

function readTextPart(part: JsonObject, at: string): TextPart {
  const annotations = member(part, "annotations", at, readList) ?? [];
  const logprobs = member(part, "logprobs", at, readList) ?? [];
  const text: TextPart = { kind: "text", at, text: readText(part["text"], `${at}.text`) };
  if (annotations.length > 0) {
    text.citations = annotations.map((one, index) => readCitation(readObject(one, `${at}.annotations.${index}`)));
  }
  if (logprobs.length > 0) text.logprobs = logprobs.map((one, index) => readObject(one, `${at}.logprobs.${index}`));
  return text;
}

function readImage(part: JsonObject, at: string): ImagePart {
  const id = member(part, "file_id", at, readWord);
  const source: Source =
    id === undefined
      ? sourceOfUrl(readText(part["image_url"], `${at}.image_url`), `${at}.image_url`)
      : { kind: "stored", id };
  return { kind: "image", at, source, detail: member(part, "detail", at, readText) };
}

function readFile(part: JsonObject, at: string): FilePart {
  const name = member(part, "filename", at, readText);
  const detail = member(part, "detail", at, readText);
  return { kind: "file", at, source: readFileSource(part, at), name, detail };
}

function readFileSource(part: JsonObject, at: string): Source {
  const id = member(part, "file_id", at, readWord);
  if (id !== undefined) return { kind: "stored", id };
  const url = member(part, "file_url", at, readWord);
  if (url !== undefined) return sourceOfUrl(url, `${at}.file_url`);
  const data = readText(part["file_data"], `${at}.file_data`);
  if (/^data:/i.test(data)) return sourceOfUrl(data, `${at}.file_data`);
  checkBase64(data, `${at}.file_data`);
  return { kind: "base64", mediaType: "application/pdf", data };
}

function readAudio(part: JsonObject, at: string): Part {
  const audio = readObject(part["input_audio"], `${at}.input_audio`);
  const data = readText(audio["data"], `${at}.input_audio.data`);
  checkBase64(data, `${at}.input_audio.data`);
  return { kind: "audio", at, data, format: readWord(audio["format"], `${at}.input_audio.format`) };
}
