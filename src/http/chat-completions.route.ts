import type { CallPipeline, ChargeableRoute } from "../calls/index.ts";
import { type ChatRequest, chatDialect, chatRequest } from "../dialects/index.ts";
import { chatCompletionsContract } from "./chat-completions.contract.ts";
import type { HttpRoute } from "./route.ts";

const route: ChargeableRoute<ChatRequest> = {
  operations: ["chat", "messages"],
  surface: "openai",
  body: chatRequest,
  dialect: chatDialect,
};

export function chatCompletionsRoute(pipeline: CallPipeline): HttpRoute {
  return {
    contract: chatCompletionsContract,
    surface: route.surface,
    access: "token",
    handle: (call) => pipeline.run(route, call),
  };
}
