import type { MediaCodec } from "../codec.ts";
import { boundEmbeddings, opaqueFields } from "./bound.ts";
import type { EmbeddingsRequest } from "./request.ts";

export { type EmbeddingsRequest, embeddingsRequest } from "./request.ts";

/** OpenAI's embeddings, which every other provider has adopted. */
export const embeddingsCodec: MediaCodec<EmbeddingsRequest> = {
  measured: opaqueFields,
  bound: boundEmbeddings,
  // Vectors are free.
  outputBytes: () => 0,
};
