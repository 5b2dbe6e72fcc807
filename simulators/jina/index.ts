import { bearerKey } from "../shared/http.ts";
import type { SimulatedProvider } from "../shared/types.ts";
import { embeddingRoute } from "./embeddings.ts";
import { jinaErrors } from "./errors.ts";
import { rankRoute } from "./rerank.ts";

/** Jina's rankings and vectors. */
export const jina: SimulatedProvider = {
  name: "jina",
  basePath: "/jina/v1",
  errors: jinaErrors,
  routes: [rankRoute, embeddingRoute],
  apiKey: (call) => bearerKey(call.headers),
  responseHeaders: (call) => ({ "x-request-id": call.identity.uuid("request") }),
};
