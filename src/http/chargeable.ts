import type { CallPipeline, ChargeableBody, ChargeableRoute } from "../calls/index.ts";
import type { PaidAnswer, PaidRequest } from "../charges/index.ts";
import { answerPaid } from "./answer-paid.ts";
import type { BackgroundResponses, ResponseStoreService } from "../objects/index.ts";
import type { ProxiedContract } from "./contract.ts";
import { type PaidRoute, proxiedRoute } from "./route.ts";

export interface ChargeableServices {
  pipeline: CallPipeline;
  responseStore: ResponseStoreService;
  background: BackgroundResponses;
}

interface ChargeableDeclaration<Body extends ChargeableBody> extends Omit<ChargeableRoute<Body>, "responseStore"> {
  contract: Omit<ProxiedContract, "body">;
  /** Whether its answers are stored, so that later calls may refer to them. */
  storesResponses?: boolean;
}

const generation = { operationId: "getGeneration", parameters: { request_id: "$response.header.x-request-id" } };

/** Without `background`, no answer may be asked for in the background. */
type CallServices = Pick<ChargeableServices, "pipeline" | "responseStore"> & Partial<ChargeableServices>;

/** A route whose calls may also be those of a batch. */
export interface ChargeablePath extends PaidRoute<ChargeableServices> {
  operations: ChargeableRoute<ChargeableBody>["operations"];
  /** Performs one call, whichever way it came. Rejects as the pipeline does. */
  perform: (request: PaidRequest, services: CallServices) => Promise<PaidAnswer>;
}

/** A route whose calls go through the pipeline: its contract, and the pipeline's declaration. */
export function chargeableRoute<Body extends ChargeableBody>(declared: ChargeableDeclaration<Body>): ChargeablePath {
  const { contract, storesResponses = false, ...route } = declared;
  const perform: ChargeablePath["perform"] = (request, { pipeline, responseStore, background }) => {
    if (!storesResponses) return pipeline.run(route, request);
    return pipeline.run({ ...route, responseStore, ...(background !== undefined && { background }) }, request);
  };
  const proxied = proxiedRoute({
    contract: { ...contract, isPaid: true, body: route.body, links: { generation, ...contract.links } },
    surface: route.surface,
    namesModel: true,
    handle: (call, services: ChargeableServices) => answerPaid(call, (request) => perform(request, services)),
  });
  return { ...proxied, operations: route.operations, perform };
}
