import { batchFileRoutes } from "../shared/batches/batch-files.ts";
import { bearerKey } from "../shared/http.ts";
import { responsesSocket } from "../shared/responses/socket.ts";
import type { Call, Headers, SimulatedProvider } from "../shared/types.ts";
import { batchRoutes } from "./batches.ts";
import { chatRoutes } from "./chat.ts";
import { xaiErrors } from "./errors.ts";
import { imageRoutes } from "./images.ts";
import { modelRoutes } from "./models.ts";
import { realtimeRoutes, realtimeSockets } from "./realtime.ts";
import { responseRoutes } from "./responses.ts";
import { videoRoutes } from "./videos.ts";
import { voiceRoutes } from "./voice.ts";

function responseHeaders(call: Call): Headers {
  return {
    "x-request-id": call.identity.uuid("request"),
    "x-ratelimit-limit-requests": "480",
    "x-ratelimit-remaining-requests": "479",
    "x-zero-data-retention": "false",
    "set-cookie": [`__cf_bm=${call.identity.token("cookie", 24)}; path=/; HttpOnly; Secure`],
  };
}

/** The simulated xAI API. */
export const xai: SimulatedProvider = {
  name: "xai",
  basePath: "/xai/v1",
  errors: xaiErrors,
  routes: [
    ...chatRoutes,
    ...responseRoutes,
    ...batchRoutes([...chatRoutes, ...responseRoutes]),
    ...batchFileRoutes("/xai/v1", xaiErrors),
    ...imageRoutes,
    ...videoRoutes,
    ...voiceRoutes,
    ...realtimeRoutes,
    ...modelRoutes,
  ],
  sockets: [...realtimeSockets, responsesSocket("/xai/v1/responses", { routes: responseRoutes, errors: xaiErrors })],
  apiKey: (call) => bearerKey(call.headers),
  responseHeaders,
};
