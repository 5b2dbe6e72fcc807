import type { JsonObject } from "../../../core/index.ts";
import {
  type CacheMark,
  checkBase64,
  type FilePart,
  type ImagePart,
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
import { readCommonPart, readPartsOf } from "../../openai-requests.ts";
import { readCitation } from "../answers/citations.ts";

/** The content of a message or the output of a tool: a string, or a list of parts. */
export function readContent(content: unknown, at: string): Part[] {
  return readPartsOf(content, at, readPart);
}

function readPart(value: unknown, at: string): Part {
  const part = readObject(value, at);
  const cache = readCache(part, at);
  switch (part["type"]) {
    case "input_text":
    case "output_text":
    case "text":
      return { ...readTextPart(part, at), cache };
    case "input_image":
      return { ...readImage(part, at), cache };
    case "input_file":
      return { ...readFile(part, at), cache };
    default:
      return readCommonPart(part, at);
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
