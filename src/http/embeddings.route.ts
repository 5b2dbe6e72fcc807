import type { CallPipeline, ChargeableRoute } from "../calls/index.ts";
import { embeddingsCodec, type EmbeddingsRequest, embeddingsRequest } from "../dialects/index.ts";
import { embeddingsContract } from "./embeddings.contract.ts";
import type { HttpRoute } from "./route.ts";

const route: ChargeableRoute<EmbeddingsRequest> = {
  operations: ["embeddings"],
  surface: "openai",
  body: embeddingsRequest,
  dialect: embeddingsCodec,
};

export function embeddingsRoute(pipeline: CallPipeline): HttpRoute {
  return {
    contract: embeddingsContract,
    surface: route.surface,
    access: "token",
    handle: (call) => pipeline.run(route, call),
  };
}
