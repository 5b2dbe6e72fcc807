import { countResponseTokens, type CountTokensDependencies } from "../../calls/index.ts";
import { countResponseTokensRequest } from "../../dialects/index.ts";
import { proxiedRoute } from "../route.ts";

export const countResponseTokensRoute = proxiedRoute({
  contract: {
    path: "/v1/responses/input_tokens",
    operationId: "countResponseTokens",
    tag: "Responses",
    summary: "Tokens that a Responses call would put in. Free; an estimate where the provider doesn't count.",
    body: countResponseTokensRequest,
    streams: false,
    retryKey: false,
  },
  namesModel: true,
  surface: "openai",
  handle: (call, services: CountTokensDependencies) => countResponseTokens(services, call),
});
