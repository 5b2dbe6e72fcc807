import { responsesCodec, responsesRequest } from "../../dialects/index.ts";
import { chargeableRoute } from "../chargeable.ts";

export const createResponseRoute = chargeableRoute({
  contract: {
    path: "/v1/responses",
    operationId: "createResponse",
    tag: "Responses",
    summary: "Responses-style generation.",
    streams: true,
  },
  operations: ["responses", "chat", "messages"],
  surface: "openai",
  body: responsesRequest,
  codec: responsesCodec,
  storesResponses: true,
});
