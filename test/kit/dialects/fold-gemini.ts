import type { JsonObject } from "../../../src/core/index.ts";
import { dataOfStream } from "./fold-chat.ts";

type Json = Record<string, unknown>;

/** A client's sum of the chunks of a Gemini stream: the whole answer. */
export function foldGemini(text: string): Json {
  return joinChunks(dataOfStream(text) as JsonObject[]);
}

/** The sum of chunks, or of one whole answer: pieces of a text, and of a thought up to its signature, become one part. */
export function joinChunks(chunks: readonly JsonObject[]): Json {
  const candidates: Json[] = [];
  const whole: Json = {};
  for (const { candidates: told, ...rest } of chunks) {
    Object.assign(whole, rest);
    for (const { content, ...others } of (told ?? []) as Json[]) {
      const candidate = (candidates[others["index"] as number] ??= { content: { parts: [], role: "model" } });
      Object.assign(candidate, others);
      const { parts } = candidate["content"] as { parts: Json[] };
      for (const part of (content as { parts: Json[] }).parts) addPart(parts, part);
    }
  }
  return { candidates, ...whole };
}

function addPart(parts: Json[], part: Json): void {
  const last = parts.at(-1);
  const isPiece = typeof part["text"] === "string" && typeof last?.["text"] === "string";
  if (isPiece && last["thought"] === part["thought"] && last["thoughtSignature"] === undefined) {
    Object.assign(last, part, { text: String(last["text"]) + String(part["text"]) });
  } else if (part["text"] !== "" || part["thoughtSignature"] !== undefined) parts.push({ ...part });
}
