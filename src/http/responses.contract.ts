import { responsesRequest } from "../dialects/index.ts";
import { proxiedRoute } from "./shared.contract.ts";

export const responsesContract = proxiedRoute({
  path: "/v1/responses",
  operationId: "createResponse",
  tag: "Responses",
  summary: "Responses-style generation.",
  body: responsesRequest,
  streams: true,
});
