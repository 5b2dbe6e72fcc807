import { embeddingsRequest } from "../dialects/index.ts";
import { proxiedRoute } from "./shared.contract.ts";

export const embeddingsContract = proxiedRoute({
  path: "/v1/embeddings",
  operationId: "createEmbedding",
  tag: "Embeddings",
  summary: "Text embeddings.",
  body: embeddingsRequest,
  streams: false,
});
