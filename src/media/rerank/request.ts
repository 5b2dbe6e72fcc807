import { z } from "zod";
import { modelId, type OpaqueText, opaqueText, wholeNumber } from "../../bodies/index.ts";
import { objectOf } from "../../core/index.ts";

/** A document: its text, or an object whose `text` it is. Some upstreams take pictures too. */
type RerankDocument = OpaqueText | Readonly<Record<string, unknown>>;

/** The most documents of a call. Cohere recommends a tenth of it. */
const DOCUMENTS_MAX = 10_000;

function areDocuments(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0 || value.length > DOCUMENTS_MAX) return false;
  return value.every((each) => typeof each === "string" || objectOf(each) !== undefined);
}

/** Checked by hand: a schema would create an issue for each invalid document. */
const documents = z
  .custom<readonly RerankDocument[]>(
    areDocuments,
    `expected a list of 1 to ${DOCUMENTS_MAX} texts, or of objects with text`,
  )
  .meta({
    description: "The texts to be ranked, or objects with `text`.",
    type: "array",
    minItems: 1,
    maxItems: DOCUMENTS_MAX,
    items: { anyOf: [{ type: "string" }, { type: "object" }] },
  });

/** The body of a rerank call in the terms of Cohere and Jina, with Voyage's `top_k`. */
export const rerankRequest = z
  .looseObject({
    model: modelId.describe("Provider-prefixed model id, such as cohere/rerank-v3.5."),
    query: opaqueText.describe("What the documents are compared with."),
    documents,
    top_n: wholeNumber(1).nullish().describe("How many of the best documents are returned; by default all."),
    top_k: wholeNumber(1).nullish().describe("Voyage's name of `top_n`."),
    return_documents: z.boolean().nullish().describe("Whether each result contains its document."),
    stream: z
      .literal(false, "rankings are not streamed")
      .nullish()
      .meta({ enum: [false, null] }),
  })
  .meta({ id: "RerankRequest" });

export type RerankRequest = z.output<typeof rerankRequest>;
