import type { UpstreamOperation } from "../provider.ts";
import { rerankOperation } from "../shared/rerank-operation.ts";
import { versionedPath } from "../shared/versioned-path.ts";

/** A field that it does not know is 400. */
export function rerankOf(baseUrl: string): UpstreamOperation {
  return rerankOperation({
    path: versionedPath(baseUrl, "v1", "/rerank"),
    limit: "top_k",
    fields: ["truncation"],
    takesTexts: true,
    namesDocuments: true,
  });
}
