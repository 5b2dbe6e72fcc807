/** The texts that a call without a conversation has as its input: to embed, to judge, or to complete. */
import { z } from "zod";
import { isOpaqueText, jsonBytes, Measure, type OpaqueText, type SizeOf } from "../bodies/index.ts";
import {
  IMAGE_TOKENS_MAX,
  type JsonObject,
  objectOf,
  tokensOfBytes,
  UNKNOWN_PART_TOKENS,
  type WorkBound,
} from "../core/index.ts";

/** A text, the ids of a text's tokens or, if the upstream supports it, a part: an image for example. */
type InputEntry = OpaqueText | readonly number[] | Readonly<Record<string, unknown>>;

/** One text or the token ids of one, or a list of entries. */
export type TextInputs = OpaqueText | readonly (InputEntry | number)[];

function isTokenId(value: unknown): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isEntry(value: unknown): boolean {
  if (typeof value === "string" || isTokenId(value)) return true;
  return Array.isArray(value) ? value.every(isTokenId) : objectOf(value) !== undefined;
}

function isInput(value: unknown): boolean {
  return typeof value === "string" || (Array.isArray(value) && value.length > 0 && value.every(isEntry));
}

const tokenIds = { type: "array", items: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER } };

/**
 * Checked by hand: there may be hundreds of thousands of token ids, and a list of schemas would create an issue for
 * each invalid one.
 */
export const textInputs = z
  .custom<TextInputs>(isInput, "expected a text, a list of texts, the token ids of a text, or a list of such")
  .meta({
    description: "A text, or a list of texts; a text may stand as the ids of its tokens where the upstream takes them.",
    type: ["string", "array"],
    anyOf: [
      { type: "string" },
      { type: "array", minItems: 1, items: { type: "string" } },
      { ...tokenIds, minItems: 1 },
      { type: "array", minItems: 1, items: tokenIds },
      { type: "array", minItems: 1, items: { type: "object" } },
    ],
  });

type InputsBound = Required<Pick<WorkBound, "inputTokens" | "inputBuckets" | "inputs" | "expectedInput">>;

/** Tokens that a model may add around an entry: its beginning, its end, a marker of its kind. */
const ENTRY_TOKENS_MAX = 8;

/** The bound of inputs alone. As in `boundChat`: a token contains at least one byte. Token ids are counted exactly. */
export function boundInputs(input: TextInputs, sizeOf: SizeOf): InputsBound {
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
    inputs,
    expectedInput: { input: tokensOfBytes(bytes) + ids + bare },
  };
}

function partTokens(part: JsonObject, sizeOf: SizeOf): number {
  const { type, text } = part;
  if (type === "text" && isOpaqueText(text)) return sizeOf(text);
  return type === "image_url" ? IMAGE_TOKENS_MAX : Math.max(UNKNOWN_PART_TOKENS, jsonBytes(part, new Measure(sizeOf)));
}
