import { bearerKey } from "../shared/http.ts";
import type { Call, Headers, SimulatedProvider } from "../shared/types.ts";
import { chatRoutes } from "./chat.ts";
import { embeddingRoutes } from "./embeddings.ts";
import { byteplusErrors } from "./errors.ts";
import { fileRoutesOfByteplus } from "./files.ts";
import { imageRoutes } from "./images.ts";
import { modelRoutes } from "./models.ts";
import { responseRoutes } from "./responses.ts";
import { videoRoutes } from "./videos.ts";

function responseHeaders(call: Call): Headers {
  const clientId = call.headers["x-client-request-id"];
  return {
    "x-request-id": `0217672256${call.identity.hex("request", 41)}`,
    ...(clientId === undefined ? {} : { "x-client-request-id": clientId }),
    "x-ratelimit-limit-requests": "30000",
    "x-ratelimit-remaining-requests": "29999",
  };
}

/** The simulated BytePlus ModelArk API. */
export const byteplus: SimulatedProvider = {
  name: "byteplus",
  basePath: "/byteplus/api/v3",
  errors: byteplusErrors,
  routes: [
    ...chatRoutes,
    ...responseRoutes,
    ...embeddingRoutes,
    ...imageRoutes,
    ...fileRoutesOfByteplus,
    ...videoRoutes,
    ...modelRoutes,
  ],
  apiKey: (call) => bearerKey(call.headers),
  responseHeaders,
};
