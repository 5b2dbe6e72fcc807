import { isFlag, isInteger, isOneOf } from "../shared/check.ts";
import { answerEmbeddings, dimensionsOr, type EmbeddingWire } from "../shared/embeddings/wire.ts";
import type { Route } from "../shared/types.ts";
import { voyageErrors } from "./errors.ts";

const wire: EmbeddingWire = {
  fields: {
    input_type: isOneOf("query", "document"),
    truncation: isFlag,
    output_dimension: isInteger(256, 2_048),
    output_dtype: isOneOf("float", "int8", "uint8", "binary", "ubinary"),
    encoding_format: isOneOf("base64"),
  },
  strict: true,
  takesTokens: false,
  inputsMax: 1_000,
  errors: voyageErrors,
  dimensions: ({ body }) => dimensionsOr(body["output_dimension"], 1_024),
  usage: ({ tokens }) => ({ total_tokens: tokens }),
};

/** Vectors as numbers, or packed: another format has no name. */
export const embeddingRoute: Route = {
  method: "POST",
  path: "/voyage/v1/embeddings",
  handle: (call) => answerEmbeddings(call, wire),
};
