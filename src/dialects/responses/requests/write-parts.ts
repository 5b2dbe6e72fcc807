import { type JsonObject, listOf } from "../../../core/index.ts";
import {
  defined,
  type FilePart,
  type ImagePart,
  type Part,
  refused,
  type TextPart,
  urlOfSource,
} from "../../conversation/index.ts";
import { writeCitations } from "../answers/citations.ts";

/**
 * A part as content of a message or a result. `own`: it came in this dialect; cache marks, which not every model
 * accepts, then return with it.
 */
export function writePart(part: Part, own: boolean): JsonObject {
  const marked = own && part.cache !== undefined ? { prompt_cache_breakpoint: { mode: "explicit" } } : {};
  switch (part.kind) {
    case "text":
      return { type: "input_text", text: part.text, ...marked };
    case "image":
      return { ...writeImage(part), ...marked };
    case "file":
      return { ...writeFile(part, own), ...marked };
    case "audio":
      return { type: "input_audio", input_audio: { data: part.data, format: part.format } };
    default:
      throw refused(part.at ?? "input");
  }
}

function writeImage({ source, detail = "auto" }: ImagePart): JsonObject {
  return source.kind === "stored"
    ? { type: "input_image", file_id: source.id, detail }
    : { type: "input_image", image_url: urlOfSource(source), detail };
}

function writeFile({ source, name, detail, at }: FilePart, own: boolean): JsonObject {
  const more = { filename: name, detail };
  switch (source.kind) {
    case "stored":
      return defined({ type: "input_file", file_id: source.id, ...more });
    case "url":
      return defined({ type: "input_file", file_url: source.url, ...more });
    case "base64":
      if (source.mediaType.startsWith("image/")) return writeImage({ kind: "image", at, source });
      return defined({
        type: "input_file",
        file_data: urlOfSource(source),
        ...more,
        filename: name ?? (own ? undefined : "document.pdf"),
      });
    default:
      throw refused(at ?? "input", "A document in parts");
  }
}

/** Text documents are sent as text, with their name. */
export function spread(part: Part): readonly Part[] {
  if (part.kind !== "file") return [part];
  const { source, name, at } = part;
  if (source.kind === "parts") return source.parts.flatMap(spread);
  if (source.kind !== "text") return [part];
  return [{ kind: "text", at, text: name === undefined ? source.text : `${name}\n\n${source.text}` }];
}

/** A model's text, both in an answer and when it is returned. */
export function writeOutputText({ text, citations = [], logprobs = [] }: Omit<TextPart, "kind">): JsonObject {
  return {
    type: "output_text",
    text,
    annotations: writeCitations(citations, text),
    logprobs: logprobs.map(writeLogprob),
  };
}

/** Here the bytes of a token are always a list. */
export function writeLogprob({ token, logprob, bytes, top_logprobs: top }: JsonObject): JsonObject {
  const others = listOf(top);
  return {
    token,
    logprob,
    bytes: bytes ?? [],
    top_logprobs: others.map((one) => ({ bytes: [], ...withBytes(one) })),
  };
}

function withBytes(one: unknown): object {
  if (one === null || typeof one !== "object") return {};
  return "bytes" in one && one.bytes === null ? { ...one, bytes: [] } : one;
}

export function writeRefusal(text: string): JsonObject {
  return { type: "refusal", refusal: text };
}
