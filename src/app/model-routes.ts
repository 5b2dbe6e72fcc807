/** The configured names that stand for several targets. */
import { type Config, ConfigError, failuresIn, targetsIn } from "../config/index.ts";
import { type ModelRoute, type ModelRouter, callableOperations } from "../routing/index.ts";

export function modelRoutesOf({ routing }: Config): ModelRoute[] {
  return Object.entries(routing.routes).map(([name, { tiers, strategy }]) => ({
    name,
    strategy,
    tiers: tiers.map((tier) => tier.map(({ model, weight, on }) => ({ model, weight, on: failuresIn(on) }))),
  }));
}

/** Throws a `ConfigError` for a target without a price, and for a route whose targets have no operation in common. */
export function checkTargets(router: ModelRouter): void {
  for (const { name, tiers } of router.modelRoutes) {
    const path = `routing.routes.${name}`;
    let common: readonly string[] | undefined;
    for (const { at, model } of targetsIn(tiers)) {
      const operations = pricedOperations(router, model);
      if (operations === undefined) {
        const duty = `set pricing.models.${JSON.stringify(model)}`;
        throw new ConfigError(`${path}.${at}`, `${model} has no price; ${duty}`);
      }
      common = common?.filter((operation) => operations.includes(operation)) ?? operations;
    }
    if (common?.length === 0) throw new ConfigError(`${path}.tiers`, "its targets have no operation in common");
  }
}

/** The operations that the model can be called for; undefined without a price. */
function pricedOperations(router: ModelRouter, id: string): readonly string[] | undefined {
  const slash = id.indexOf("/");
  const route = router.withPrefix(id.slice(0, slash));
  const price = route && router.priceOf(route, id.slice(slash + 1));
  return route && price && callableOperations(route.provider, price);
}
