import { type JsonObject, listOf, objectOf, type ObservedUsage } from "../../core/index.ts";
import type { CallInput, UpstreamOperation, UpstreamRequests } from "../provider.ts";
import { textOf, toldCount } from "../shared/json.ts";
import { refusal } from "../shared/refusal.ts";

/** Without a purpose it refuses a call. */
const USUAL_PURPOSE = "search_document";

/** Fields of its own that a caller may add to OpenAI's. */
const ownFields = ["truncate", "max_tokens", "priority"] as const;

function textsOf(input: unknown): string[] {
  const entries: readonly unknown[] = Array.isArray(input) ? input : [input];
  return entries.map((entry) => {
    const text = textOf(entry);
    if (text === undefined)
      throw refusal("input", "must be a text or a list of texts: this provider takes nothing else.");
    return text;
  });
}

/** Its names of OpenAI's formats are the same. */
function formatOf(body: JsonObject): "float" | "base64" {
  return body["encoding_format"] === "base64" ? "base64" : "float";
}

function answerOf(answer: JsonObject, format: "float" | "base64", model: string): JsonObject {
  const vectors = listOf(objectOf(answer["embeddings"])?.[format]);
  const tokens = tokensOf(answer) ?? 0;
  return {
    object: "list",
    data: vectors.map((embedding, index) => ({ object: "embedding", index, embedding })),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

function tokensOf(answer: JsonObject): number | undefined {
  return toldCount(objectOf(objectOf(answer["meta"])?.["billed_units"])?.["input_tokens"]);
}

function toUpstream({ body }: CallInput, model: string): UpstreamRequests {
  const format = formatOf(body);
  const { dimensions, input_type } = body;
  const own = ownFields.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]] as const]));
  const json = {
    model,
    input_type: input_type ?? USUAL_PURPOSE,
    texts: textsOf(body["input"]),
    embedding_types: [format],
    ...(dimensions === undefined || dimensions === null ? {} : { output_dimension: dimensions }),
    ...Object.fromEntries(own),
  };
  return { requests: [{ json }], answer: ([answer = {}]) => answerOf(answer, format, model) };
}

function readUsage(answer: JsonObject): ObservedUsage | undefined {
  const tokens = tokensOf(answer);
  return tokens === undefined || tokens === 0 ? undefined : { usage: { input: tokens, requests: 1 } };
}

/** Converted to Cohere's `/v2/embed` (docs/wire/rerank.md). */
export const embeddings: UpstreamOperation = {
  path: "/v2/embed",
  purposes: {
    names: {
      RETRIEVAL_QUERY: "search_query",
      QUESTION_ANSWERING: "search_query",
      FACT_VERIFICATION: "search_query",
      CODE_RETRIEVAL_QUERY: "search_query",
      RETRIEVAL_DOCUMENT: "search_document",
      CLASSIFICATION: "classification",
      CLUSTERING: "clustering",
    },
  },
  edits: () => [],
  toUpstream,
  readUsage,
  isFailure: (answer) => objectOf(answer["embeddings"]) === undefined,
};
