import { bearerKey } from "../shared/http.ts";
import { responsesSocket } from "../shared/responses/socket.ts";
import type { Call, Headers, SimulatedProvider } from "../shared/types.ts";
import { batchRoutes } from "./batches.ts";
import { chatRoutes } from "./chat.ts";
import { embeddingRoutes } from "./embeddings.ts";
import { openaiErrors } from "./errors.ts";
import { openaiFileRoutes } from "./files.ts";
import { imageRoutes } from "./images.ts";
import { completionRoute } from "../shared/completions.ts";
import { modelRoutes } from "./models.ts";
import { moderationRoutes } from "./moderations.ts";
import { realtimeRoutes, realtimeSockets } from "./realtime.ts";
import { responseRoutes } from "./responses.ts";
import { speechRoutes } from "./speech.ts";
import { transcriptionRoutes } from "./transcriptions.ts";
import { videoRoutes } from "./videos.ts";

/** Headers about the account behind the key and its limits, which are no business of a gateway's caller. */
function responseHeaders(call: Call): Headers {
  const { identity } = call;
  return {
    "x-request-id": `req_${identity.hex("request", 32)}`,
    "openai-organization": "org-simulated",
    "openai-processing-ms": String(20 + identity.number("processing", 400)),
    "openai-version": "2020-10-01",
    "x-ratelimit-limit-requests": "10000",
    "x-ratelimit-limit-tokens": "2000000",
    "x-ratelimit-remaining-requests": "9999",
    "x-ratelimit-remaining-tokens": "1999000",
    "x-ratelimit-reset-requests": "6ms",
    "x-ratelimit-reset-tokens": "6m0s",
    "set-cookie": [
      `__cf_bm=${identity.token("cookie", 24)}; path=/; HttpOnly; Secure; SameSite=None`,
      `_cfuvid=${identity.token("visitor", 24)}; path=/; HttpOnly; Secure; SameSite=None`,
    ],
  };
}

const completions = completionRoute("/openai/v1/completions", openaiErrors, true);
const batchedRoutes = [
  ...chatRoutes,
  ...responseRoutes,
  ...embeddingRoutes,
  ...imageRoutes,
  ...moderationRoutes,
  completions,
];

/** The simulated OpenAI API. */
export const openai: SimulatedProvider = {
  name: "openai",
  basePath: "/openai/v1",
  errors: openaiErrors,
  routes: [
    ...batchedRoutes,
    ...batchRoutes(batchedRoutes),
    ...speechRoutes,
    ...transcriptionRoutes,
    ...videoRoutes,
    ...realtimeRoutes,
    ...openaiFileRoutes,
    ...modelRoutes,
  ],
  sockets: [
    ...realtimeSockets,
    responsesSocket("/openai/v1/responses", { routes: responseRoutes, errors: openaiErrors }),
  ],
  apiKey: (call) => bearerKey(call.headers),
  responseHeaders,
};
