import type { ModelListing } from "../provider.ts";
import { documentedModels } from "../shared/model-list.ts";

const RERANKERS = ["jina-reranker-v3.5", "jina-reranker-v3", "jina-reranker-m0", "jina-reranker-v2-base-multilingual"];
const EMBEDDINGS = ["jina-embeddings-v4", "jina-embeddings-v3"];

/** Jina has no list of models. */
export const models: ModelListing = {
  from: "catalog",
  models: documentedModels("jina", [...RERANKERS, ...EMBEDDINGS]),
};
