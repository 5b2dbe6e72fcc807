import type { UpstreamOperation } from "../provider.ts";
import { embeddingsOperation } from "../shared/embeddings-operation.ts";
import { versionedPath } from "../shared/versioned-path.ts";

const purposes = {
  names: {
    RETRIEVAL_QUERY: "query",
    QUESTION_ANSWERING: "query",
    FACT_VERIFICATION: "query",
    CODE_RETRIEVAL_QUERY: "query",
    RETRIEVAL_DOCUMENT: "document",
  },
};

/** `encoding_format` may only be base64: for numbers it is omitted. */
export function embeddingsOf(baseUrl: string): UpstreamOperation {
  const rules = { path: versionedPath(baseUrl, "v1", "/embeddings"), renames: { dimensions: "output_dimension" } };
  const packed = embeddingsOperation({ ...rules, drops: ["user"] });
  const plain = embeddingsOperation({ ...rules, drops: ["user", "encoding_format"] });
  return {
    ...packed,
    purposes,
    edits: (body, model) => (body["encoding_format"] === "base64" ? packed : plain).edits(body, model),
  };
}
