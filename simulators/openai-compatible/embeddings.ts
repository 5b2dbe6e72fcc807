import { isInteger } from "../shared/check.ts";
import { answerEmbeddings, dimensionsOr, type EmbeddingWire } from "../shared/embeddings/wire.ts";
import type { Route } from "../shared/types.ts";
import { plainErrors } from "./errors.ts";

const wire: EmbeddingWire = {
  fields: { dimensions: isInteger(1, 100_000) },
  strict: false,
  takesTokens: true,
  inputsMax: 2_048,
  errors: plainErrors,
  dimensions: ({ body }) => dimensionsOr(body["dimensions"], 768),
  usage: ({ tokens }) => ({ prompt_tokens: tokens, total_tokens: tokens }),
};

/** Embeddings of most hosts and local servers: lenient, floats or base64. */
export const embeddingRoutes: readonly Route[] = [
  { method: "POST", path: "/openai-compatible/v1/embeddings", handle: (call) => answerEmbeddings(call, wire) },
];
