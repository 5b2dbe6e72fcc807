import { embeddingsCodec, embeddingsRequest } from "../../media/index.ts";
import { chargeableRoute } from "../chargeable.ts";

export const embeddingsRoute = chargeableRoute({
  contract: {
    path: "/v1/embeddings",
    operationId: "createEmbedding",
    tag: "Embeddings",
    summary: "Text embeddings.",
    streams: false,
  },
  operations: ["embeddings"],
  surface: "openai",
  body: embeddingsRequest,
  codec: embeddingsCodec,
});
