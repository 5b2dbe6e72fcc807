import type { MediaCodec } from "../codec.ts";
import { boundRerank, opaqueFields } from "./bound.ts";
import type { RerankRequest } from "./request.ts";

export { rerankRequest } from "./request.ts";

/** The ranking of documents by their relevance to a query, in the format that Cohere and Jina share. */
export const rerankCodec: MediaCodec<RerankRequest> = {
  measured: opaqueFields,
  bound: boundRerank,
  // Scores are free.
  outputBytes: () => 0,
};
