import { chatCodec, chatRequest } from "../dialects/index.ts";
import { chargeable } from "./chargeable.ts";
import { chatCompletionsContract } from "./chat-completions.contract.ts";

export const chatCompletionsRoute = chargeable(chatCompletionsContract, {
  operations: ["chat", "messages"],
  surface: "openai",
  body: chatRequest,
  codec: chatCodec,
});
