import { isInteger, isOneOf, isRecord } from "../shared/check.ts";
import {
  answerEmbeddings,
  dimensionsOr,
  type EmbeddingTalk,
  type EmbeddingWire,
  plainVector,
} from "../shared/embeddings/wire.ts";
import { isGiven } from "../shared/json.ts";
import type { ErrorAnswer, Route } from "../shared/types.ts";
import { mistralErrors } from "./errors.ts";

/** Only the code model's vectors can be shortened or quantized. */
function isFlexible(model: string): boolean {
  return model.startsWith("codestral-embed");
}

function refuse({ body, model }: EmbeddingTalk): ErrorAnswer | null {
  if (isFlexible(model)) return null;
  const field = ["output_dimension", "output_dtype"].find((name) => isGiven(body[name]) && body[name] !== "float");
  if (field === undefined) return null;
  const message = `Model ${model} does not support ${field}.`;
  return mistralErrors.forProblem({ kind: "unsupported", field, message });
}

/** Bytes of a vector: one a component, or one bit a component. */
function quantize(vector: Float32Array, dtype: string): Uint8Array {
  if (dtype === "int8" || dtype === "uint8") {
    const largest = vector.reduce((most, component) => Math.max(most, Math.abs(component)), 0);
    const offset = dtype === "uint8" ? 128 : 0;
    return Uint8Array.from(vector, (component) => Math.round((component / largest) * 127) + offset);
  }
  const bits = new Uint8Array(Math.ceil(vector.length / 8));
  for (const [index, component] of vector.entries()) {
    if (component > 0) bits[index >> 3] = (bits[index >> 3] ?? 0) | (0x80 >> (index & 7));
  }
  return bits;
}

function writeVector(vector: Float32Array, talk: EmbeddingTalk): unknown {
  const dtype = talk.body["output_dtype"] ?? "float";
  if (typeof dtype !== "string" || dtype === "float") return plainVector(vector, talk);
  const bytes = quantize(vector, dtype);
  if (talk.body["encoding_format"] === "base64") return Buffer.from(bytes).toString("base64");
  const signed = dtype === "int8" || dtype === "binary";
  return Array.from(bytes, (byte) => (signed && byte > 127 ? byte - 256 : byte));
}

const wire: EmbeddingWire = {
  fields: {
    encoding_format: isOneOf("float", "base64"),
    metadata: isRecord,
    output_dimension: isInteger(1, 3_072),
    output_dtype: isOneOf("float", "int8", "uint8", "binary", "ubinary"),
  },
  strict: true,
  takesTokens: false,
  inputsMax: 16_384,
  errors: mistralErrors,
  refuse,
  dimensions: ({ body, model }) => dimensionsOr(body["output_dimension"], isFlexible(model) ? 1_536 : 1_024),
  vector: writeVector,
  envelope: ({ call }) => ({ id: call.identity.hex("embeddings", 32) }),
  usage: ({ tokens }) => ({ prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens }),
};

/** Embeddings of Mistral: `output_dimension` and `output_dtype` under names of their own. */
export const embeddingRoutes: readonly Route[] = [
  { method: "POST", path: "/mistral/v1/embeddings", handle: (call) => answerEmbeddings(call, wire) },
];
