import { responsesCodec, responsesRequest } from "../../dialects/index.ts";
import { chargeableRoute } from "../chargeable.ts";

/** The calls of the route, whichever way they come. */
export const responsesCalls = {
  operations: ["responses", "chat", "messages", "gemini"],
  surface: "openai",
  body: responsesRequest,
  codec: responsesCodec,
} as const;

export const createResponseRoute = chargeableRoute({
  ...responsesCalls,
  contract: {
    path: "/v1/responses",
    operationId: "createResponse",
    tag: "Responses",
    summary: "Responses-style generation.",
    streams: true,
    links: {
      response: { operationId: "getResponse", parameters: { response_id: "$response.body#/id" } },
      inputItems: { operationId: "listInputItems", parameters: { response_id: "$response.body#/id" } },
      deletion: { operationId: "deleteResponse", parameters: { response_id: "$response.body#/id" } },
    },
  },
  storesResponses: true,
});
