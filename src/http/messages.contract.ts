import { messagesRequest } from "../dialects/index.ts";
import { proxiedRoute } from "./shared.contract.ts";

export const messagesContract = proxiedRoute({
  path: "/v1/messages",
  operationId: "createMessage",
  tag: "Chat",
  summary: "Messages-style generation (Claude-compatible shape).",
  body: messagesRequest,
  streams: true,
});
