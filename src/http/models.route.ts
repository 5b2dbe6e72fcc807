import type { z } from "zod";
import type { ModelList } from "../models/index.ts";
import type { PriceQuote } from "../pricing/index.ts";
import type { ModelRouter } from "../routing/index.ts";
import { mayUse } from "../routing/index.ts";
import { modelsContract, type modelsAnswer } from "./models.contract.ts";
import type { HttpRoute } from "./route.ts";

export interface ModelsRouteDependencies {
  models: ModelList;
  router: ModelRouter;
  quote: PriceQuote;
}

/** The models that the caller's token may use. */
export function modelsRoute({ models, router, quote }: ModelsRouteDependencies): HttpRoute {
  return {
    contract: modelsContract,
    surface: "openai",
    access: "token",
    async handle({ principal }) {
      const listed = await models.list();
      const data = listed
        .filter(({ route, model }) => mayUse(principal, route, model.id))
        .map(({ route, model }) => {
          const price = router.priceOf(route, model.id);
          return {
            id: `${route.prefix}/${model.id}`,
            object: "model" as const,
            created: model.created ?? 0,
            owned_by: model.ownedBy ?? route.prefix,
            context_length: model.contextLength ?? price?.contextWindow ?? null,
            pricing: price === undefined ? null : quote(price),
          };
        });
      return Response.json({ object: "list", data } satisfies z.input<typeof modelsAnswer>);
    },
  };
}
