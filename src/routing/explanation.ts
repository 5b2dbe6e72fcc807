import { creditsNumber } from "../core/index.ts";
import { priceQuote } from "../pricing/index.ts";
import type { ExplainedRoute, ExplainedTarget } from "./explain-route.ts";
import type { TargetState } from "./shared/store.ts";

/** An explained route as operators get it: amounts in credits, times in ISO 8601. */
export function explanationJson({ route, strategy, overBudget, targets }: ExplainedRoute) {
  return {
    route: route ?? null,
    strategy: strategy ?? null,
    over_budget: overBudget ?? null,
    targets: targets.map(targetJson),
  };
}

function targetJson({ tier, model, weight, on, why, message, until, price, cost, available }: ExplainedTarget) {
  return {
    tier,
    model,
    weight,
    on,
    asked: why === undefined,
    why: why ?? null,
    message: message ?? null,
    until: until === undefined ? null : new Date(until).toISOString(),
    price: price === undefined ? null : priceQuote(price),
    cost: cost === undefined ? null : creditsNumber(cost),
    available: available === undefined ? null : creditsNumber(available),
  };
}

/** Until when each circuit is open at this time, by the states that all processes have learnt. */
export function circuitEnds(states: readonly TargetState[], now: number): (circuit: string) => number | undefined {
  const open = states.filter(({ kind, openUntil }) => kind === "open" && openUntil > now);
  const until = new Map(open.map(({ id, openUntil }) => [id, openUntil]));
  return (circuit) => until.get(circuit);
}
