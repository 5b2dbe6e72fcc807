import { type JsonObject, parseObject } from "../../../core/index.ts";
import {
  belongsTo,
  type CacheMark,
  defined,
  type FilePart,
  type ImagePart,
  type Part,
  plainCallId,
  refused,
  type ReasoningPart,
  type Source,
  type ToolCallPart,
  type ToolResultPart,
  type TranslationTarget,
} from "../../conversation/index.ts";
import { writeCitation } from "../answers/citations.ts";

const imageTypes: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

/** A part as a block of a request; undefined for an empty one, or one that must not be sent to this upstream. */
function writeBlock(part: Part, target: TranslationTarget): JsonObject | undefined {
  switch (part.kind) {
    case "text":
      if (part.text === "") return undefined;
      return defined({ type: "text", text: part.text, citations: citationsOf(part, target), ...marked(part.cache) });
    case "refusal":
      return part.text === "" ? undefined : { type: "text", text: part.text };
    case "image":
      return writeImage(part);
    case "file":
      return writeDocument(part, target);
    case "tool-call":
      return writeToolUse(part);
    case "tool-result":
      return writeToolResult(part, target);
    case "reasoning":
      return writeThinking(part, target);
    case "audio":
      throw refused(part.at ?? "messages", "Audio");
    case "native":
      if (part.dialect === "messages") return part.value;
      throw refused(part.at ?? "messages");
  }
}

/** The cache mark as a member of a block. */
function marked(cache: CacheMark | undefined): JsonObject {
  return cache === undefined ? {} : { cache_control: cacheControl(cache) };
}

export function cacheControl(cache: CacheMark | undefined): JsonObject | undefined {
  return cache === undefined ? undefined : defined({ type: "ephemeral", ttl: cache.ttl });
}

/**
 * Citations return to the upstream that made them; for any other they are references in a text that it did not write.
 */
function citationsOf({ citations = [] }: Extract<Part, { kind: "text" }>, target: TranslationTarget) {
  const own = citations.filter((one) => one.kind === "native" || belongsTo(one.sealed, target, "messages"));
  const written = own.map((one) =>
    writeCitation(one.kind === "url" && one.sealed ? { ...one, sealed: nativeSeal(one.sealed.value) } : one),
  );
  return written.length === 0 ? undefined : written.filter((one) => one !== undefined);
}

function nativeSeal(value: string) {
  return { origin: "native:messages", value };
}

function writeImage({ source, at, cache }: ImagePart): JsonObject {
  if (source.kind !== "base64") return { type: "image", source: writeSource(source), ...marked(cache) };
  const named = source.mediaType.toLowerCase();
  const mediaType = named === "image/jpg" ? "image/jpeg" : named;
  if (!imageTypes.has(mediaType)) throw refused(at ?? "messages", "An image of this type");
  return { type: "image", source: { type: "base64", media_type: mediaType, data: source.data }, ...marked(cache) };
}

function writeSource(source: Source): JsonObject {
  switch (source.kind) {
    case "base64":
      return { type: "base64", media_type: source.mediaType, data: source.data };
    case "url":
      return { type: "url", url: source.url };
    case "stored":
      return { type: "file", file_id: source.id };
  }
}

function writeDocument(part: FilePart, target: TranslationTarget): JsonObject {
  const { source, name, context, citable, cache, at } = part;
  if (source.kind === "base64" && source.mediaType.startsWith("image/")) {
    return writeImage({ kind: "image", at, source, cache });
  }
  return defined({
    type: "document",
    source: writeDocumentSource(part, target),
    title: name,
    context,
    citations: citable === undefined ? undefined : { enabled: citable },
    ...marked(cache),
  });
}

function writeDocumentSource({ source, at }: FilePart, target: TranslationTarget): JsonObject {
  switch (source.kind) {
    case "text":
      return { type: "text", media_type: "text/plain", data: source.text };
    case "parts":
      return { type: "content", content: writeContent(source.parts, target) };
    case "base64":
      if (source.mediaType === "application/pdf") return writeSource(source);
      if (source.mediaType.startsWith("text/")) {
        const text = Buffer.from(source.data, "base64").toString("utf8");
        return { type: "text", media_type: "text/plain", data: text };
      }
      throw refused(at ?? "messages", "A file of this type");
    default:
      return writeSource(source);
  }
}

/** A string if there is only text. */
export function writeContent(parts: readonly Part[], target: TranslationTarget): string | JsonObject[] {
  const [first] = parts;
  const bare = parts.length === 1 && first?.kind === "text" && !first.cache && !first.citations;
  return bare ? first.text : parts.map((part) => writeBlock(part, target)).filter((block) => block !== undefined);
}

function writeToolUse({ callId, name, arguments: text, custom, cache, at }: ToolCallPart): JsonObject {
  if (custom === true) throw refused(at ?? "messages", "A call of a tool that takes free text");
  // A model may have written no JSON. A refusal would end the conversation, though the result beside it says what was wrong.
  const input = text.trim() === "" ? {} : (parseObject(text) ?? { INVALID_JSON: text });
  return { type: "tool_use", id: plainCallId(callId), name, input, ...marked(cache) };
}

function writeToolResult({ callId, content, isError, cache }: ToolResultPart, target: TranslationTarget): JsonObject {
  return defined({
    type: "tool_result",
    tool_use_id: plainCallId(callId),
    content: content.length === 0 ? undefined : writeContent(content, target),
    is_error: isError,
    ...marked(cache),
  });
}

/** A thought returns to its maker unchanged, and is sent to no other upstream. */
function writeThinking(
  { text, signature, redacted }: ReasoningPart,
  target: TranslationTarget,
): JsonObject | undefined {
  if (signature === undefined || signature.value === "" || !belongsTo(signature, target, "messages")) return undefined;
  if (redacted === true) return { type: "redacted_thinking", data: signature.value };
  return { type: "thinking", thinking: text, signature: signature.value };
}
