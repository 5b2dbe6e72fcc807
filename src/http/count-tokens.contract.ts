import { countTokensRequest } from "../dialects/index.ts";
import { proxiedRoute } from "./shared.contract.ts";

export const countTokensContract = proxiedRoute({
  path: "/v1/messages/count_tokens",
  operationId: "countMessageTokens",
  tag: "Chat",
  summary: "Tokens that a Messages call would put in. Free; an estimate where the provider doesn't count.",
  body: countTokensRequest,
  streams: false,
});
