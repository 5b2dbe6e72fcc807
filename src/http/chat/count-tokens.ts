import { countTokens, type CountTokensDependencies } from "../../calls/index.ts";
import { countTokensRequest } from "../../dialects/index.ts";
import { proxiedRoute } from "../route.ts";

export const countTokensRoute = proxiedRoute({
  contract: {
    path: "/v1/messages/count_tokens",
    operationId: "countMessageTokens",
    tag: "Chat",
    summary: "Tokens that a Messages call would put in. Free; an estimate where the provider doesn't count.",
    body: countTokensRequest,
    streams: false,
    retryKey: false,
  },
  namesModel: true,
  surface: "anthropic",
  handle: (call, services: CountTokensDependencies) => countTokens(services, call),
});
