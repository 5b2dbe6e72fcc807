import type { UpstreamOperation } from "../provider.ts";
import { embeddingsOperation } from "../shared/embeddings-operation.ts";
import { versionedPath } from "../shared/versioned-path.ts";

/** The purpose of the vectors is its `task`; the format of the vectors has a name of its own. */
export function embeddingsOf(baseUrl: string): UpstreamOperation {
  return embeddingsOperation({
    path: versionedPath(baseUrl, "v1", "/embeddings"),
    drops: ["user"],
    renames: { encoding_format: "embedding_type", input_type: "task" },
  });
}
