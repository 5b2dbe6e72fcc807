import { bearerKey } from "../shared/http.ts";
import type { SimulatedProvider } from "../shared/types.ts";
import { embeddingRoute } from "./embeddings.ts";
import { voyageErrors } from "./errors.ts";
import { rankRoute } from "./rerank.ts";

/** Voyage's rankings and vectors. */
export const voyage: SimulatedProvider = {
  name: "voyage",
  basePath: "/voyage/v1",
  errors: voyageErrors,
  routes: [rankRoute, embeddingRoute],
  apiKey: (call) => bearerKey(call.headers),
  responseHeaders: (call) => ({ "x-request-id": call.identity.uuid("request") }),
};
