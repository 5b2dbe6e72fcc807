import type { CallPipeline, ChargeableRoute, ResponseKeeper } from "../calls/index.ts";
import { responsesDialect, type ResponsesRequest, responsesRequest } from "../dialects/index.ts";
import { responsesContract } from "./responses.contract.ts";
import type { HttpRoute } from "./route.ts";

export function responsesRoute(pipeline: CallPipeline, keeper: ResponseKeeper): HttpRoute {
  const route: ChargeableRoute<ResponsesRequest> = {
    operations: ["responses", "chat", "messages"],
    surface: "openai",
    body: responsesRequest,
    dialect: responsesDialect,
    keeper,
  };
  return {
    contract: responsesContract,
    surface: route.surface,
    access: "token",
    handle: (call) => pipeline.run(route, call),
  };
}
