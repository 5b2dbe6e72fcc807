import type { UpstreamOperation } from "../provider.ts";
import { rerankOperation, versioned } from "../shared/rerank-operation.ts";

/** Documents may be pictures. It returns documents unless it is asked not to. */
export function rerankOf(baseUrl: string): UpstreamOperation {
  return rerankOperation({
    path: versioned(baseUrl, "v1", "/rerank"),
    limit: "top_n",
    fields: undefined,
    takesTexts: false,
    namesDocuments: true,
  });
}
