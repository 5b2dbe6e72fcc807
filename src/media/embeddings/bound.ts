import { isOpaqueText, jsonBytes, Measure, type SizeOf } from "../../bodies/index.ts";
import {
  IMAGE_TOKENS_MAX,
  type JsonObject,
  objectOf,
  tokensOfBytes,
  UNKNOWN_PART_TOKENS,
  type WorkBound,
} from "../../core/index.ts";
import type { EmbeddingsRequest } from "./request.ts";

/** The fields whose size is the size of the input. */
export const opaqueFields = ["input"] as const;

/** Tokens that a model may add around an entry: its beginning, its end, a marker of its kind. */
const ENTRY_TOKENS_MAX = 8;

/** As in `boundChat`: a token contains at least one byte. Token ids are counted exactly; the output is free. */
export function boundEmbeddings({ input }: EmbeddingsRequest, sizeOf: SizeOf): WorkBound {
  const entries = isOpaqueText(input) ? [input] : input;
  let bytes = 0;
  let ids = 0;
  let bare = 0;
  for (const entry of entries) {
    if (typeof entry === "number") bare += 1;
    else if (Array.isArray(entry)) ids += entry.length;
    else bytes += isOpaqueText(entry) ? sizeOf(entry) : partTokens(objectOf(entry) ?? {}, sizeOf);
  }
  // Ids directly in the list are those of one text.
  const inputs = entries.length - bare + (bare > 0 ? 1 : 0);
  return {
    inputTokens: bytes + ids + bare + inputs * ENTRY_TOKENS_MAX,
    inputBuckets: ["inputImage"],
    outputTokens: 0,
    choices: 1,
    inputs,
    expectedInput: { input: tokensOfBytes(bytes) + ids + bare },
  };
}

function partTokens(part: JsonObject, sizeOf: SizeOf): number {
  const { type, text } = part;
  if (type === "text" && isOpaqueText(text)) return sizeOf(text);
  return type === "image_url" ? IMAGE_TOKENS_MAX : Math.max(UNKNOWN_PART_TOKENS, jsonBytes(part, new Measure(sizeOf)));
}
