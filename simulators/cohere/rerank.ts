import { isInteger } from "../shared/check.ts";
import { rerankRoute, type RerankTalk } from "../shared/rerank/wire.ts";
import { cohereErrors } from "./errors.ts";

/** A longer document is divided, and each part counts. */
const PART_TOKENS = 510;
const DOCUMENTS_PER_UNIT = 100;

/** The fifth generation is billed by tokens, the earlier ones by search units. */
function billedUnits({ model, texts, tokens }: RerankTalk) {
  if (model.startsWith("rerank-v5")) return { input_tokens: tokens };
  const parts = texts.reduce((sum, text) => sum + Math.max(1, Math.ceil(text.length / 4 / PART_TOKENS)), 0);
  return { search_units: Math.ceil(parts / DOCUMENTS_PER_UNIT) };
}

/** Results never contain documents, and there is no field to ask for them. */
export const rankRoute = rerankRoute({
  path: "/cohere/v2/rerank",
  errors: cohereErrors,
  limit: "top_n",
  fields: { max_tokens_per_doc: isInteger(1, 1_000_000), priority: isInteger(0, 999) },
  strict: true,
  takesObjects: false,
  documentsMax: 10_000,
  answer: (talk) => ({
    id: talk.call.identity.uuid("rerank"),
    results: talk.ranked.map(({ index, relevance_score }) => ({ index, relevance_score })),
    meta: { api_version: { version: "2" }, billed_units: billedUnits(talk) },
  }),
});
