import { GatewayError } from "../../core/index.ts";
import type { RealtimeSessions } from "../../realtime/index.ts";
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
