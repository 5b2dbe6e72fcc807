import { bearerKey } from "../shared/http.ts";
import type { Call, Headers, SimulatedProvider } from "../shared/types.ts";
import { batchRoutes } from "./batches.ts";
import { chatRoutes } from "./chat.ts";
import { nativeErrors } from "./errors.ts";
import { fileRoutes } from "./files.ts";
import { messageRoutes } from "./messages.ts";
import { modelRoutes } from "./models.ts";

/** `x-api-key` wins if both are sent. */
function apiKey(call: Call): string | null {
  return call.headers["x-api-key"] ?? bearerKey(call.headers);
}

function responseHeaders(call: Call): Headers {
  return {
    "request-id": `req_011${call.identity.token("request", 21)}`,
    "anthropic-organization-id": "00000000-0000-4000-8000-000000000001",
    "anthropic-workspace-id": "wrkspc_01simulated",
    "anthropic-ratelimit-requests-limit": "4000",
    "anthropic-ratelimit-requests-remaining": "3999",
    "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:01Z",
    "anthropic-ratelimit-tokens-limit": "400000",
    "anthropic-ratelimit-tokens-remaining": "399000",
    "anthropic-ratelimit-tokens-reset": "2026-01-01T00:00:01Z",
    "set-cookie": [`_cfuvid=${call.identity.token("cookie", 24)}; path=/; HttpOnly; Secure`],
  };
}

/** The simulated Anthropic API with its OpenAI-compatible layer. */
export const anthropic: SimulatedProvider = {
  name: "anthropic",
  basePath: "/anthropic",
  errors: nativeErrors,
  routes: [...chatRoutes, ...messageRoutes, ...batchRoutes(messageRoutes), ...modelRoutes, ...fileRoutes],
  apiKey,
  responseHeaders,
};
