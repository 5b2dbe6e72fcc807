import type { CallPipeline, ResponseKeeper } from "../calls/index.ts";
import { responsesCodec, responsesRequest } from "../dialects/index.ts";
import { chargeable } from "./chargeable.ts";
import { responsesContract } from "./responses.contract.ts";
import type { HttpRoute } from "./route.ts";

export function responsesRoute(pipeline: CallPipeline, keeper: ResponseKeeper): HttpRoute {
  return chargeable(responsesContract, {
    operations: ["responses", "chat", "messages"],
    surface: "openai",
    body: responsesRequest,
    codec: responsesCodec,
    keeper,
  })(pipeline);
}
