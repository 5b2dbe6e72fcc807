import { messageRoutes } from "../anthropic/messages.ts";
import { responseRoutes } from "../openai/responses.ts";
import { completionRoute } from "../shared/completions.ts";
import { bearerKey } from "../shared/http.ts";
import type { Call, Headers, Route, SimulatedProvider } from "../shared/types.ts";
import { chatRoutes } from "./chat.ts";
import { embeddingRoutes } from "./embeddings.ts";
import { plainErrors } from "./errors.ts";
import { modelRoutes } from "./models.ts";
import { audioRoutes } from "./audio.ts";
import { rankRoute } from "./rerank.ts";

function responseHeaders(call: Call): Headers {
  return { "x-request-id": call.identity.uuid("request") };
}

/** The other dialects, as servers of open models have them: they store nothing, and count nothing ahead. */
const otherDialects: Route[] = [...responseRoutes, ...messageRoutes]
  .filter(({ method, path }) => method === "POST" && /\/(?:responses|messages)$/.test(path))
  .map((route) => ({ ...route, path: route.path.replace(/^\/\w+/, "/openai-compatible") }));

/** A generic OpenAI-compatible API. */
export const openaiCompatible: SimulatedProvider = {
  name: "openai-compatible",
  basePath: "/openai-compatible/v1",
  errors: plainErrors,
  routes: [
    ...chatRoutes,
    ...otherDialects,
    completionRoute("/openai-compatible/v1/completions", plainErrors, false),
    ...embeddingRoutes,
    rankRoute,
    ...audioRoutes,
    ...modelRoutes,
  ],
  apiKey: (call) => bearerKey(call.headers),
  responseHeaders,
};
