/** The configured names that stand for several targets. */
import { type Config, ConfigError, failuresIn, targetsIn } from "../config/index.ts";
import type { ModelOperation } from "../core/index.ts";
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
    let common: readonly ModelOperation[] | undefined;
    for (const { at, model } of targetsIn(tiers)) {
      const priced = router.priced(model);
      if (priced === undefined) {
        const duty = `set pricing.models.${JSON.stringify(model)}`;
        throw new ConfigError(`${path}.${at}`, `${model} has no price; ${duty}`);
      }
      const operations = callableOperations(priced.provider, priced.price);
      common = common?.filter((operation) => operations.includes(operation)) ?? operations;
    }
    if (common?.length === 0) throw new ConfigError(`${path}.tiers`, "its targets have no operation in common");
  }
}
