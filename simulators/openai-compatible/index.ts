import { completionRoute } from "../shared/completions.ts";
import { bearerKey } from "../shared/http.ts";
import type { Call, Headers, SimulatedProvider } from "../shared/types.ts";
import { chatRoutes } from "./chat.ts";
import { embeddingRoutes } from "./embeddings.ts";
import { plainErrors } from "./errors.ts";
import { modelRoutes } from "./models.ts";
import { audioRoutes } from "./audio.ts";

function responseHeaders(call: Call): Headers {
  return { "x-request-id": call.identity.uuid("request") };
}

/** A generic OpenAI-compatible API. */
export const openaiCompatible: SimulatedProvider = {
  name: "openai-compatible",
  basePath: "/openai-compatible/v1",
  errors: plainErrors,
  routes: [
    ...chatRoutes,
    completionRoute("/openai-compatible/v1/completions", plainErrors, false),
    ...embeddingRoutes,
    ...audioRoutes,
    ...modelRoutes,
  ],
  apiKey: (call) => bearerKey(call.headers),
  responseHeaders,
};
