import type { CallPipeline, ChargeableBody, ChargeableRoute } from "../calls/index.ts";
import type { ResponseStoreService } from "../responses/index.ts";
import type { ProxiedContract } from "./contract.ts";
import { type HttpRoute, proxiedRoute } from "./route.ts";

export interface ChargeableServices {
  pipeline: CallPipeline;
  keeper: ResponseStoreService;
}

interface ChargeableDeclaration<Body extends ChargeableBody> extends Omit<ChargeableRoute<Body>, "keeper"> {
  contract: Omit<ProxiedContract, "body">;
  /** Whether its answers are stored, so that later calls may refer to them. */
  keeps?: boolean;
}

/** A route whose calls go through the pipeline: its contract, and the pipeline's declaration. */
export function chargeableRoute<Body extends ChargeableBody>(
  declared: ChargeableDeclaration<Body>,
): HttpRoute<ChargeableServices, "token"> {
  const { contract, keeps = false, ...route } = declared;
  return proxiedRoute({
    contract: { ...contract, body: route.body },
    surface: route.surface,
    mount({ pipeline, keeper }: ChargeableServices) {
      const kept = keeps ? { ...route, keeper } : route;
      return async ({ requestId, principal, request }) => {
        const incoming = { requestId, principal, headers: request.headers, body: request, client: request };
        const { status, headers, body } = await pipeline.run(kept, incoming);
        return new Response(body, { status, headers });
      };
    },
  });
}
