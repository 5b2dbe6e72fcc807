import type { ModelListing } from "../provider.ts";
import { documentedModels } from "../shared/model-list.ts";

const RERANKERS = ["rerank-3", "rerank-2.5", "rerank-2.5-lite"];
const EMBEDDINGS = ["voyage-3.5", "voyage-3.5-lite", "voyage-3-large", "voyage-code-3"];

/** Voyage has no list of models. */
export const models: ModelListing = {
  from: "catalog",
  models: documentedModels("voyage", [...RERANKERS, ...EMBEDDINGS]),
};
