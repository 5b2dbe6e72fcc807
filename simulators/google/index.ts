import { refusedKey } from "../shared/exchange.ts";
import { bearerKey } from "../shared/http.ts";
import type { Call, Headers, SimulatedProvider } from "../shared/types.ts";
import { batchRoutes } from "./batches.ts";
import { chatRoutes } from "./chat.ts";
import { countRoutes } from "./count-tokens.ts";
import { embeddingRoutes } from "./embeddings.ts";
import { nativeErrors } from "./errors.ts";
import { generateRoutes } from "./generate.ts";
import { modelRoutes } from "./models.ts";

/** The compatible layer reads Bearer only, the native API a header or the query; two credentials at once are refused. */
function apiKey(call: Call): string | null {
  const bearer = bearerKey(call.headers);
  const own = call.headers["x-goog-api-key"] ?? call.query.get("key") ?? null;
  if (bearer !== null && own !== null) return refusedKey;
  return call.path.startsWith("/google/v1beta/openai/") ? bearer : own;
}

function responseHeaders(call: Call): Headers {
  return {
    "server-timing": `gfet4t7; dur=${20 + call.identity.number("duration", 900)}`,
    vary: "Origin, X-Origin, Referer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "SAMEORIGIN",
    "x-xss-protection": "0",
  };
}

/** The simulated Gemini API with its OpenAI-compatible layer. */
export const google: SimulatedProvider = {
  name: "google",
  basePath: "/google",
  errors: nativeErrors,
  routes: [
    ...chatRoutes,
    ...embeddingRoutes,
    ...generateRoutes,
    ...batchRoutes(generateRoutes),
    ...countRoutes,
    ...modelRoutes,
  ],
  apiKey,
  responseHeaders,
};
