import { type JsonObject, objectOf } from "../../core/index.ts";
import type { UpstreamOperation } from "../provider.ts";
import { embedContentsFor, purposes } from "./embed-contents.ts";
import { embeddingsOperation } from "../shared/embeddings-operation.ts";

const operation = embeddingsOperation({ path: "/v1beta/openai/embeddings", drops: ["user"], renames: {} });

const BYTES_PER_FLOAT = 4;

function wantsBase64(body: JsonObject): boolean {
  return body["encoding_format"] === "base64";
}

/** Encodes a vector in base64 as OpenAI does: 32-bit floats, little-endian. Returns other values unchanged. */
function toBase64(vector: unknown): unknown {
  if (!Array.isArray(vector)) return vector;
  const bytes = Buffer.alloc(vector.length * BYTES_PER_FLOAT);
  for (const [index, component] of vector.entries()) {
    if (typeof component !== "number") return vector;
    bytes.writeFloatLE(component, index * BYTES_PER_FLOAT);
  }
  return bytes.toString("base64");
}

function withBase64(answer: JsonObject): JsonObject {
  const { data } = answer;
  if (!Array.isArray(data)) return answer;
  const rows = data.map((row: unknown) => {
    const item = objectOf(row);
    return item === undefined ? row : { ...item, embedding: toBase64(item["embedding"]) };
  });
  return { ...answer, data: rows };
}

/**
 * OpenAI's SDKs request base64 by default, which Google's compatible layer doesn't support reliably: it is asked for
 * floats, and they are encoded here (`docs/wire/gemini.md`).
 */
export const embeddings: UpstreamOperation = {
  ...operation,
  purposes: { names: Object.fromEntries(purposes.map((name) => [name, name])), takesTitle: true },
  forBody: embedContentsFor,
  edits: (body, model) => [
    ...operation.edits(body, model),
    ...(wantsBase64(body) ? [{ set: "encoding_format", value: '"float"' }] : []),
  ],
  toUpstream: ({ body }) =>
    wantsBase64(body) ? { requests: [{}], answer: ([answer = {}]) => withBase64(answer) } : undefined,
};
