import type { UpstreamOperation } from "../provider.ts";
import { rerankOperation } from "../shared/rerank-operation.ts";
import { versionedPath } from "../shared/versioned-path.ts";

/** Documents may be pictures. It returns documents unless it is asked not to. */
export function rerankOf(baseUrl: string): UpstreamOperation {
  return rerankOperation({
    path: versionedPath(baseUrl, "v1", "/rerank"),
    limit: "top_n",
    fields: undefined,
    takesTexts: false,
    namesDocuments: true,
  });
}
