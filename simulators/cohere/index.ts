import { bearerKey } from "../shared/http.ts";
import type { SimulatedProvider } from "../shared/types.ts";
import { embedRoute } from "./embeddings.ts";
import { cohereErrors } from "./errors.ts";
import { modelRoute } from "./models.ts";
import { rankRoute } from "./rerank.ts";

/** Cohere's rankings and vectors, of the second version of its API. */
export const cohere: SimulatedProvider = {
  name: "cohere",
  basePath: "/cohere",
  errors: cohereErrors,
  routes: [rankRoute, embedRoute, modelRoute],
  apiKey: (call) => bearerKey(call.headers),
  responseHeaders: (call) => ({ "x-debug-trace-id": call.identity.hex("trace", 32) }),
};
