import { chatCodec, chatRequest } from "../../dialects/index.ts";
import { chargeableRoute } from "../chargeable.ts";

export const chatCompletionsRoute = chargeableRoute({
  contract: {
    path: "/v1/chat/completions",
    operationId: "createChatCompletion",
    tag: "Chat",
    summary: "Chat completion (OpenAI-compatible shape).",
    streams: true,
  },
  operations: ["chat", "messages", "responses", "gemini"],
  surface: "openai",
  body: chatRequest,
  codec: chatCodec,
});
