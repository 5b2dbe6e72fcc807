import type { UpstreamOperation } from "../provider.ts";
import { embeddingsOperation } from "../shared/embeddings-operation.ts";
import { versionedPath } from "../shared/versioned-path.ts";

const purposes = {
  names: {
    RETRIEVAL_QUERY: "retrieval.query",
    QUESTION_ANSWERING: "retrieval.query",
    FACT_VERIFICATION: "retrieval.query",
    CODE_RETRIEVAL_QUERY: "retrieval.query",
    RETRIEVAL_DOCUMENT: "retrieval.passage",
    SEMANTIC_SIMILARITY: "text-matching",
    CLASSIFICATION: "classification",
    CLUSTERING: "separation",
  },
};

/** The purpose of the vectors is its `task`; the format of the vectors has a name of its own. */
export function embeddingsOf(baseUrl: string): UpstreamOperation {
  const operation = embeddingsOperation({
    path: versionedPath(baseUrl, "v1", "/embeddings"),
    drops: ["user"],
    renames: { encoding_format: "embedding_type", input_type: "task" },
  });
  return { ...operation, purposes };
}
