import { isFlag } from "../shared/check.ts";
import { rerankRoute } from "../shared/rerank/wire.ts";
import { voyageErrors } from "./errors.ts";

/** The results are `data`, and a document is its text. */
export const rankRoute = rerankRoute({
  path: "/voyage/v1/rerank",
  errors: voyageErrors,
  limit: "top_k",
  fields: { return_documents: isFlag, truncation: isFlag },
  strict: true,
  takesObjects: false,
  documentsMax: 1_000,
  answer: ({ model, ranked, tokens, body }) => ({
    object: "list",
    data: ranked.map(({ text, ...result }) =>
      body["return_documents"] === true ? { ...result, document: text } : result,
    ),
    model,
    usage: { total_tokens: tokens },
  }),
});
