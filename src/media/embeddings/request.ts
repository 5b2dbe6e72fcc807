import { z } from "zod";
import { modelId, type OpaqueText, wholeNumber } from "../../bodies/index.ts";
import { objectOf } from "../../core/index.ts";

/** A text, the ids of a text's tokens or, if the upstream supports it, a part: an image for example. */
type EmbeddingsEntry = OpaqueText | readonly number[] | Readonly<Record<string, unknown>>;

/** One text or the token ids of one, or a list of entries. */
type EmbeddingsInput = OpaqueText | readonly (EmbeddingsEntry | number)[];

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
const input = z
  .custom<EmbeddingsInput>(isInput, "expected a text, a list of texts, the token ids of a text, or a list of such")
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

/** The body of an embeddings call, as far as the gateway must understand it to bound and route it. */
export const embeddingsRequest = z
  .looseObject({
    model: modelId.describe("Provider-prefixed model id, such as openai/text-embedding-3-small."),
    input,
    encoding_format: z.string().nullish().describe("float or base64."),
    dimensions: wholeNumber(1).nullish(),
    stream: z
      .literal(false, "embeddings are not streamed")
      .nullish()
      .meta({ enum: [false, null] }),
  })
  .meta({ id: "EmbeddingsRequest" });

export type EmbeddingsRequest = z.output<typeof embeddingsRequest>;
