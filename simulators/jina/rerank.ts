import { isFlag } from "../shared/check.ts";
import { rerankRoute } from "../shared/rerank/wire.ts";
import { jinaErrors } from "./errors.ts";

/** Documents are returned unless the request declines them. */
export const rankRoute = rerankRoute({
  path: "/jina/v1/rerank",
  errors: jinaErrors,
  limit: "top_n",
  fields: { return_documents: isFlag },
  strict: false,
  takesObjects: true,
  documentsMax: 2_048,
  answer: ({ model, ranked, tokens, body }) => ({
    model,
    object: "list",
    usage: { total_tokens: tokens, prompt_tokens: tokens },
    results: ranked.map(({ text, ...result }) =>
      body["return_documents"] === false ? result : { ...result, document: { text } },
    ),
  }),
});
