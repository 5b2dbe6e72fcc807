import type { CallPipeline, ChargeableRoute } from "../calls/index.ts";
import { messagesDialect, type MessagesRequest, messagesRequest } from "../dialects/index.ts";
import { messagesContract } from "./messages.contract.ts";
import type { HttpRoute } from "./route.ts";

const route: ChargeableRoute<MessagesRequest> = {
  operations: ["messages", "chat"],
  surface: "anthropic",
  body: messagesRequest,
  dialect: messagesDialect,
};

export function messagesRoute(pipeline: CallPipeline): HttpRoute {
  return {
    contract: messagesContract,
    surface: route.surface,
    access: "token",
    handle: (call) => pipeline.run(route, call),
  };
}
