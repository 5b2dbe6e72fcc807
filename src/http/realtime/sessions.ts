import { z } from "@hono/zod-openapi";
import { GatewayError } from "../../core/index.ts";
import type { RealtimeSessions } from "../../realtime/index.ts";
import { socketContract } from "../contract.ts";
import type { Route, SessionCall } from "../route.ts";

interface Needs {
  realtime: RealtimeSessions;
}

/** The WebSocket of realtime sessions. */
export const realtimeRoute: Route<Needs> = {
  kind: "session",
  method: "get",
  path: "/v1/realtime",
  surface: "openai",
  contract: socketContract({
    path: "/v1/realtime",
    operationId: "openRealtimeSession",
    tag: "Realtime",
    summary: "Open a realtime session.",
    description:
      "A WebSocket with OpenAI's realtime events, in JSON texts. The token, or a client secret, is in a header, or in the " +
      "subprotocol `openai-insecure-api-key.<secret>` beside `realtime`.",
    query: z.object({
      model: z.string().optional().describe("Provider-prefixed realtime model; a client secret names it already."),
      intent: z.literal("transcription").optional().describe("For a session that transcribes only."),
    }),
  }),
  handle: (call: SessionCall, { realtime }) => realtime.open(call),
};

/** OpenAI's route for WebRTC. The media would flow past the gateway, to the provider and back, without being metered. */
export const realtimeCallsRoute: Route<object> = {
  kind: "http",
  method: "post",
  path: "/v1/realtime/calls",
  surface: "openai",
  access: "token",
  handle: () => {
    throw new GatewayError(
      "unsupported_operation",
      "Sessions over WebRTC are not available, since their media does not pass the gateway and could not be metered. Use the WebSocket /v1/realtime.",
    );
  },
};
