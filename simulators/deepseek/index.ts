import { bearerKey } from "../shared/http.ts";
import type { Call, Headers, SimulatedProvider } from "../shared/types.ts";
import { chatRoutes } from "./chat.ts";
import { deepseekErrors } from "./errors.ts";
import { modelRoutes } from "./models.ts";
import { responseRoutes } from "./responses.ts";

function responseHeaders(call: Call): Headers {
  return {
    "x-ds-trace-id": call.identity.hex("trace", 32),
    "set-cookie": [`HWWAFSESID=${call.identity.hex("session", 18)}; path=/`],
    "strict-transport-security": "max-age=31536000; includeSubDomains; preload",
  };
}

/** The simulated DeepSeek API. */
export const deepseek: SimulatedProvider = {
  name: "deepseek",
  basePath: "/deepseek/v1",
  errors: deepseekErrors,
  routes: [...chatRoutes, ...responseRoutes, ...modelRoutes],
  apiKey: (call) => bearerKey(call.headers),
  responseHeaders,
};
