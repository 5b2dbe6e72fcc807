import { isOpaqueText, jsonBytes, Measure, type SizeOf } from "../../bodies/index.ts";
import { tokensOfBytes, type WorkBound } from "../../core/index.ts";
import type { RerankRequest } from "./request.ts";

/** The fields whose size is the size of the input. */
export const opaqueFields = ["query", "documents"] as const;

/** Tokens that a model may add around a document and its query. */
const PAIR_TOKENS_MAX = 8;

/** Cohere counts a longer document, with the query, as several: it is divided into parts of this many tokens. */
const PART_TOKENS = 500;

/** The documents of one search unit (docs.cohere.com, "How Does Cohere's Pricing Work"). */
const DOCUMENTS_PER_UNIT = 100;

/**
 * The model reads the query with each document. As in `boundChat`: a token contains at least one byte. Search units are bounded
 * likewise; an upstream that reports none is charged one for each hundred documents that have been begun.
 */
export function boundRerank({ query, documents }: RerankRequest, sizeOf: SizeOf): WorkBound {
  const asked = sizeOf(query);
  let bytes = 0;
  let parts = 0;
  for (const document of documents) {
    const size = isOpaqueText(document) ? sizeOf(document) : jsonBytes(document, new Measure(sizeOf));
    bytes += asked + size;
    parts += Math.max(1, Math.ceil((asked + size) / PART_TOKENS));
  }
  return {
    inputTokens: bytes + documents.length * PAIR_TOKENS_MAX,
    inputs: documents.length,
    inputUnits: { searchUnits: Math.ceil(parts / DOCUMENTS_PER_UNIT) },
    expectedInput: {
      input: tokensOfBytes(bytes),
      searchUnits: Math.ceil(documents.length / DOCUMENTS_PER_UNIT),
    },
    outputTokens: 0,
    choices: 1,
  };
}
