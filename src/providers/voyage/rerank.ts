import type { UpstreamOperation } from "../provider.ts";
import { rerankOperation, versioned } from "../shared/rerank-operation.ts";

/** A field that it does not know is 400. */
export function rerankOf(baseUrl: string): UpstreamOperation {
  return rerankOperation({
    path: versioned(baseUrl, "v1", "/rerank"),
    limit: "top_k",
    fields: ["truncation"],
    takesTexts: true,
    namesDocuments: true,
  });
}
