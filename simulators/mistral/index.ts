import { batchFileRoutes } from "../shared/batches/batch-files.ts";
import { bearerKey } from "../shared/http.ts";
import type { Call, Headers, SimulatedProvider } from "../shared/types.ts";
import { batchRoutes } from "./batches.ts";
import { chatRoutes } from "./chat.ts";
import { embeddingRoutes } from "./embeddings.ts";
import { mistralErrors } from "./errors.ts";
import { modelRoutes } from "./models.ts";
import { moderationRoutes } from "./moderations.ts";
import { audioRoutes } from "./audio.ts";

function responseHeaders(call: Call): Headers {
  return {
    "mistral-correlation-id": call.identity.uuid("correlation"),
    "x-kong-request-id": call.identity.uuid("request"),
    "x-envoy-upstream-service-time": "42",
    "x-ratelimit-limit-req-minute": "60",
    "x-ratelimit-remaining-req-minute": "59",
    "set-cookie": [`__cf_bm=${call.identity.token("cookie", 24)}; path=/; HttpOnly; Secure`],
  };
}

const batchedRoutes = [...chatRoutes, ...embeddingRoutes, ...moderationRoutes];

/** The simulated Mistral API. */
export const mistral: SimulatedProvider = {
  name: "mistral",
  basePath: "/mistral/v1",
  errors: mistralErrors,
  routes: [
    ...batchedRoutes,
    ...batchRoutes(batchedRoutes),
    ...batchFileRoutes("/mistral/v1", mistralErrors),
    ...audioRoutes,
    ...modelRoutes,
  ],
  apiKey: (call) => bearerKey(call.headers),
  responseHeaders,
};
