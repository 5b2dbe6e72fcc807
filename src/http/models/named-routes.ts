import type { Principal } from "../../auth/index.ts";
import { GatewayError } from "../../core/index.ts";
import { soldAt } from "../../pricing/index.ts";
import {
  type ModelRoute,
  type ModelRouter,
  operationsOf,
  type RoutedModel,
  unlistedModel,
} from "../../routing/index.ts";

/** The names that stand for several models, of which the token may use one at least. */
export function namedRoutes(router: ModelRouter, principal: Principal): RoutedModel[] {
  return router.modelRoutes.flatMap((named) => {
    try {
      return [namedRoute(router, named, principal)];
    } catch (thrown) {
      if (thrown instanceof GatewayError) return [];
      throw thrown;
    }
  });
}

/**
 * A name as a model: with its own price or that of the first target that can be used, and the operations that all targets of the first
 * tier have. Throws a `GatewayError` (404) if the token may use none of them.
 */
export function namedRoute(
  router: ModelRouter,
  { name, tiers, priceOf }: ModelRoute,
  principal: Principal,
): RoutedModel {
  const { route, model } = router.find(name, principal);
  const each = (tiers[0] ?? []).map((target) => {
    const priced = router.priced(target.model);
    return priced === undefined ? [] : operationsOf(priced.provider, priced.price);
  });
  const [first = [], ...others] = each;
  const operations = first.filter((operation) => others.every((other) => other.includes(operation)));
  const own = router.priceOf(route, model);
  const sold = priceOf === undefined ? undefined : router.priced(priceOf)?.price;
  const price = own && sold && soldAt(sold, own);
  return { route, model: unlistedModel(model), name, operations, price };
}
