import { isFlag } from "../shared/check.ts";
import { rerankRoute } from "../shared/rerank/wire.ts";
import { plainErrors } from "./errors.ts";

/** As vLLM has it: every result contains its document. */
export const rankRoute = rerankRoute({
  path: "/openai-compatible/v1/rerank",
  errors: plainErrors,
  limit: "top_n",
  fields: { return_documents: isFlag },
  strict: false,
  takesObjects: true,
  documentsMax: 10_000,
  answer: ({ call, model, ranked, tokens }) => ({
    id: `rerank-${call.identity.hex("rerank", 32)}`,
    model,
    usage: { total_tokens: tokens },
    results: ranked.map(({ text, ...result }) => ({ ...result, document: { text } })),
  }),
});
