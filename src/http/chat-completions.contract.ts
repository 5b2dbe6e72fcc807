import { chatRequest } from "../dialects/index.ts";
import { proxiedRoute } from "./shared.contract.ts";

export const chatCompletionsContract = proxiedRoute({
  path: "/v1/chat/completions",
  operationId: "createChatCompletion",
  tag: "Chat",
  summary: "Chat completion (OpenAI-compatible shape).",
  body: chatRequest,
  streams: true,
});
