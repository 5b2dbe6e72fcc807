import type { JsonObject } from "../../../core/index.ts";
import {
  type CacheMark,
  checkBase64,
  type FilePart,
  invalid,
  member,
  optional,
  type Part,
  readFlag,
  readList,
  readObject,
  readOneOf,
  readText,
  readWord,
  type ReasoningPart,
  type Signature,
  type Source,
  sourceOfUrl,
  type TextPart,
  type ToolCallPart,
  untagSignature,
} from "../../conversation/index.ts";
import { readCitation } from "../answers/citations.ts";
import { textOfHosted } from "../hosted-blocks.ts";
import { readNotice } from "./read-tool-changes.ts";

/** Blocks that only an upstream of this dialect creates and understands. */
const nativeBlocks: ReadonlySet<string> = new Set([
  "server_tool_use",
  "web_search_tool_result",
  "web_fetch_tool_result",
  "code_execution_tool_result",
  "bash_code_execution_tool_result",
  "text_editor_code_execution_tool_result",
  "tool_search_tool_result",
  "container_upload",
  "search_result",
  "mcp_tool_use",
  "mcp_tool_result",
  "fallback",
]);

const ttls = ["5m", "1h"] as const;

/** The content of a message, a result or a document: a string, or a list of blocks. */
export function readBlocks(content: unknown, at: string): Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", at, text: content }];
  if (!Array.isArray(content)) throw invalid(at, "must be a string or an array");
  const parts: Part[] = [];
  let callSignature: Signature | undefined;
  for (const [index, value] of content.entries()) {
    const path = `${at}.${index}`;
    const block = readObject(value, path);
    const sealed = callSignatureOf(block);
    if (sealed !== undefined) {
      callSignature = sealed;
      continue;
    }
    const part = readBlock(block, path);
    parts.push(part.kind === "tool-call" && callSignature !== undefined ? { ...part, signature: callSignature } : part);
    if (part.kind === "tool-call") callSignature = undefined;
  }
  return parts;
}

/** A thought without text that carries the signature of the following call, for which calls have no member here. */
function callSignatureOf(block: JsonObject): Signature | undefined {
  const { type, signature } = block;
  if (type !== "thinking" || typeof signature !== "string") return undefined;
  const read = untagSignature(signature, "messages");
  return read.use === "call" ? read.signature : undefined;
}

function readBlock(block: JsonObject, at: string): Part {
  const type = readText(block["type"], `${at}.type`);
  const cache = readCache(block, at);
  switch (type) {
    case "text":
      return { ...readTextBlock(block, at), cache };
    case "image":
      return { kind: "image", at, source: readSource(block["source"], `${at}.source`), cache };
    case "document":
      return { ...readDocument(block, at), cache };
    case "tool_use":
      return { ...readToolUse(block, at), cache };
    case "tool_result":
      return {
        kind: "tool-result",
        at: `${at}.tool_use_id`,
        callId: readWord(block["tool_use_id"], `${at}.tool_use_id`),
        content: optional(block["content"], `${at}.content`, readBlocks) ?? [],
        isError: member(block, "is_error", at, readFlag),
        cache,
      };
    case "thinking":
      return readThinking(block, at);
    case "redacted_thinking": {
      const { signature } = untagSignature(readText(block["data"], `${at}.data`), "messages");
      return { kind: "reasoning", at, text: "", redacted: true, signature };
    }
    default: {
      const notice = readNotice(block, at);
      if (notice !== undefined) return notice;
      if (nativeBlocks.has(type))
        return { kind: "native", at, dialect: "messages", value: block, text: textOfHosted(block) };
      throw invalid(`${at}.type`, `${JSON.stringify(type.slice(0, 80))} is not a type of block`);
    }
  }
}

function readTextBlock(block: JsonObject, at: string): TextPart {
  const citations = member(block, "citations", at, readList) ?? [];
  return {
    kind: "text",
    at,
    text: readText(block["text"], `${at}.text`),
    citations:
      citations.length === 0
        ? undefined
        : citations.map((one, index) => readCitation(readObject(one, `${at}.citations.${index}`))),
  };
}

function readThinking(block: JsonObject, at: string): ReasoningPart {
  const text = readText(block["thinking"], `${at}.thinking`);
  const signature = member(block, "signature", at, readText) ?? "";
  return {
    kind: "reasoning",
    at,
    text,
    signature: signature === "" ? undefined : untagSignature(signature, "messages").signature,
  };
}

function readToolUse(block: JsonObject, at: string): ToolCallPart {
  return {
    kind: "tool-call",
    at,
    callId: readWord(block["id"], `${at}.id`),
    name: readWord(block["name"], `${at}.name`),
    arguments: JSON.stringify(readObject(block["input"], `${at}.input`)),
  };
}

function readSource(value: unknown, at: string): Source {
  const source = readObject(value, at);
  switch (readOneOf(source["type"], `${at}.type`, ["base64", "url", "file"])) {
    case "base64": {
      const data = readText(source["data"], `${at}.data`);
      checkBase64(data, `${at}.data`);
      return { kind: "base64", mediaType: readWord(source["media_type"], `${at}.media_type`), data };
    }
    case "url":
      return sourceOfUrl(readText(source["url"], `${at}.url`), `${at}.url`);
    case "file":
      return { kind: "stored", id: readWord(source["file_id"], `${at}.file_id`) };
  }
}

function readDocument(block: JsonObject, at: string): FilePart {
  const citations = member(block, "citations", at, readObject);
  return {
    kind: "file",
    at,
    source: readDocumentSource(readObject(block["source"], `${at}.source`), `${at}.source`),
    name: member(block, "title", at, readText),
    context: member(block, "context", at, readText),
    citable: citations === undefined ? undefined : member(citations, "enabled", `${at}.citations`, readFlag),
  };
}

function readDocumentSource(source: JsonObject, at: string): FilePart["source"] {
  switch (source["type"]) {
    case "text":
      return { kind: "text", text: readText(source["data"], `${at}.data`) };
    case "content":
      return { kind: "parts", parts: readBlocks(source["content"], `${at}.content`) };
    default:
      return readSource(source, at);
  }
}

/** The cache mark of a block, a tool or a whole body. */
export function readCache(object: JsonObject, at: string): CacheMark | undefined {
  const path = at === "" ? "cache_control" : `${at}.cache_control`;
  const mark = optional(object["cache_control"], path, readObject);
  if (mark === undefined) return undefined;
  const ttl = member(mark, "ttl", path, (value, place) => readOneOf(value, place, ttls));
  return ttl === undefined ? {} : { ttl };
}
