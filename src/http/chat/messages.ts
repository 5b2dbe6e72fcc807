import { messagesCodec, messagesRequest } from "../../dialects/index.ts";
import { chargeableRoute } from "../chargeable.ts";

export const messagesRoute = chargeableRoute({
  contract: {
    path: "/v1/messages",
    operationId: "createMessage",
    tag: "Chat",
    summary: "Messages-style generation (Claude-compatible shape).",
    streams: true,
  },
  operations: ["messages", "chat", "responses", "gemini"],
  surface: "anthropic",
  body: messagesRequest,
  codec: messagesCodec,
});
