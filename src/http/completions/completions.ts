import { completionCodec, completionRequest } from "../../media/index.ts";
import { chargeableRoute } from "../chargeable.ts";

export const completionsRoute = chargeableRoute({
  contract: {
    path: "/v1/completions",
    operationId: "createCompletion",
    tag: "Chat",
    summary: "Legacy text completion, where the provider has it.",
    streams: true,
  },
  operations: ["completion"],
  surface: "openai",
  body: completionRequest,
  codec: completionCodec,
});
