import type { JsonObject } from "../../../core/index.ts";
import {
  type CacheMark,
  checkBase64,
  type FilePart,
  invalid,
  member,
  type Part,
  readObject,
  readText,
  readWord,
  sourceOfUrl,
  type TextPart,
} from "../../conversation/index.ts";
import { readCommonPart, readPartsOf } from "../../openai-requests.ts";

/** The content of a message: a string, or a list of parts. */
export function readContent(content: unknown, at: string): Part[] {
  return readPartsOf(content, at, readPart);
}

export function readPart(value: unknown, at: string): Part {
  const part = readObject(value, at);
  const cache = readCache(part);
  switch (part["type"]) {
    case "text":
      return { kind: "text", at, text: readText(part["text"], `${at}.text`), cache };
    case "image_url":
      return { ...readImage(part, at), cache };
    case "file":
      return { ...readFile(readObject(part["file"], `${at}.file`), at), cache };
    default:
      return readCommonPart(part, at);
  }
}

function readImage(part: JsonObject, at: string): Part {
  const path = `${at}.image_url`;
  const { image_url: value } = part;
  // Several upstreams take the address alone.
  if (typeof value === "string") return { kind: "image", at, source: sourceOfUrl(value, path) };
  const image = readObject(value, path);
  const url = readText(image["url"], `${path}.url`);
  return {
    kind: "image",
    at,
    source: sourceOfUrl(url, `${path}.url`),
    detail: member(image, "detail", path, readText),
  };
}

function readFile(file: JsonObject, at: string): FilePart {
  const name = member(file, "filename", `${at}.file`, readText);
  const id = member(file, "file_id", `${at}.file`, readWord);
  if (id !== undefined) return { kind: "file", at, source: { kind: "stored", id }, name };
  const data = readText(file["file_data"], `${at}.file.file_data`);
  if (/^[a-z]+:/i.test(data.slice(0, 16))) {
    return { kind: "file", at, source: sourceOfUrl(data, `${at}.file.file_data`), name };
  }
  checkBase64(data, `${at}.file.file_data`);
  return { kind: "file", at, source: { kind: "base64", mediaType: "application/pdf", data }, name };
}

/** Not part of OpenAI's API: several upstreams of this dialect accept it with the meaning that it has in Messages. */
export function readCache(part: JsonObject): CacheMark | undefined {
  const mark = part["cache_control"];
  if (mark === null || typeof mark !== "object" || !("type" in mark) || mark.type !== "ephemeral") return undefined;
  const ttl = "ttl" in mark ? mark.ttl : undefined;
  return ttl === "5m" || ttl === "1h" ? { ttl } : {};
}

/** The texts of parts that may only be text. */
export function textsOnly(parts: readonly Part[], what: string): TextPart[] {
  return parts.map((part) => {
    if (part.kind === "text") return part;
    throw invalid(part.at ?? what, `${what} holds text only`);
  });
}
