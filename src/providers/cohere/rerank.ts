import { rerankOperation } from "../shared/rerank-operation.ts";

/** A field that it does not know is 422. Its answers never contain documents. */
export const rerank = rerankOperation({
  path: "/v2/rerank",
  limit: "top_n",
  fields: ["max_tokens_per_doc", "priority"],
  takesTexts: true,
  namesDocuments: false,
});
