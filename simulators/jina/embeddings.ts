import { isFlag, isInteger, isOneOf } from "../shared/check.ts";
import { answerEmbeddings, dimensionsOr, type EmbeddingWire } from "../shared/embeddings/wire.ts";
import { base64Of, floatsOf } from "../shared/embeddings/vector.ts";
import type { Route } from "../shared/types.ts";
import { jinaErrors } from "./errors.ts";

const wire: EmbeddingWire = {
  fields: {
    task: isOneOf("retrieval.query", "retrieval.passage", "text-matching", "classification", "separation"),
    dimensions: isInteger(1, 2_048),
    embedding_type: isOneOf("float", "base64", "binary", "ubinary"),
    normalized: isFlag,
    late_chunking: isFlag,
    truncate: isFlag,
  },
  strict: true,
  takesTokens: false,
  inputsMax: 2_048,
  errors: jinaErrors,
  dimensions: ({ body }) => dimensionsOr(body["dimensions"], 1_024),
  vector: (vector, { body }) => (body["embedding_type"] === "base64" ? base64Of(vector) : floatsOf(vector)),
  usage: ({ tokens }) => ({ total_tokens: tokens, prompt_tokens: tokens }),
};

/** Vectors for a task; the format of the vectors has a name of its own. */
export const embeddingRoute: Route = {
  method: "POST",
  path: "/jina/v1/embeddings",
  handle: (call) => answerEmbeddings(call, wire),
};
