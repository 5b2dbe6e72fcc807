import type { CallPipeline, ChargeableBody, ChargeableRoute } from "../calls/index.ts";
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

/** A route whose calls go through the pipeline: its contract, and the pipeline's declaration. */
export function chargeableRoute<Body extends ChargeableBody>(
  declared: ChargeableDeclaration<Body>,
): PaidRoute<ChargeableServices> {
  const { contract, storesResponses = false, ...route } = declared;
  return proxiedRoute({
    contract: { ...contract, isPaid: true, body: route.body, links: { generation, ...contract.links } },
    surface: route.surface,
    namesModel: true,
    handle: (call, { pipeline, responseStore, background }: ChargeableServices) =>
      answerPaid(call, (request) =>
        pipeline.run(storesResponses ? { ...route, responseStore, background } : route, request),
      ),
  });
}
