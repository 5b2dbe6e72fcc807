import { rerankCodec, rerankRequest } from "../../media/index.ts";
import { chargeableRoute } from "../chargeable.ts";

/** The same call at Jina's and Voyage's path, and at Cohere's. */
const paths = [
  { path: "/v1/rerank", operationId: "rerank" },
  { path: "/v2/rerank", operationId: "rerankV2" },
] as const;

export const rerankRoutes = paths.map((place) =>
  chargeableRoute({
    contract: {
      ...place,
      tag: "Embeddings",
      summary: "Documents by their relevance to a query, the best first.",
      streams: false,
    },
    operations: ["rerank"],
    surface: "openai",
    body: rerankRequest,
    codec: rerankCodec,
  }),
);
