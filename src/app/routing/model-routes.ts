/** The configured names that stand for several targets. */
import { type Config, ConfigError, failuresIn, modelsIn } from "../../config/index.ts";
import { type Environment, type ModelOperation, prefixOf, withoutPrefix } from "../../core/index.ts";
import {
  Circuits,
  type ModelRoute,
  type ModelRouter,
  modelOfCircuit,
  callableOperations,
  type RouteLimits,
  type TargetCondition,
} from "../../routing/index.ts";
import type { Logger } from "../../telemetry/index.ts";

type RouteConfig = Config["routing"]["routes"][string];
type TargetConfig = RouteConfig["tiers"][number][number];

/** The bounds of calls with several targets; a route may have some of its own. */
export function routeLimitsOf({ routing, upstream }: Config, own?: RouteConfig): RouteLimits {
  const commit = own?.commit ?? routing.commit;
  return {
    attempts: own?.attempts ?? routing.attempts,
    deadlineMs: own?.deadline ?? routing.deadline ?? upstream.first_byte_timeout,
    attemptMsMax: own?.attempt_timeout ?? routing.attempt_timeout,
    wholeMsMax: own?.whole_timeout ?? routing.whole_timeout,
    headMsMax: own?.head_wait ?? routing.head_wait,
    commit: commit && { chars: commit.chars, withinMs: commit.within },
  };
}

export function modelRoutesOf(config: Config): ModelRoute[] {
  return Object.entries(config.routing.routes).map(([name, own]) => ({
    name,
    strategy: own.strategy,
    limits: routeLimitsOf(config, own),
    overBudget: own.over_budget,
    priceOf: own.price_of,
    tiers: own.tiers.map((tier) =>
      tier.map(({ model, weight, on, when }) => ({
        model,
        weight,
        on: failuresIn(on),
        when: when && conditionOf(when),
      })),
    ),
  }));
}

function conditionOf({ input_tokens: input, ...globs }: NonNullable<TargetConfig["when"]>): TargetCondition {
  const { token, user, organisation, operation } = globs;
  return {
    token: listIn(token),
    user: listIn(user),
    organisation: listIn(organisation),
    operation: listIn(operation),
    inputTokens: input && { min: input.min ?? 0, max: input.max ?? Number.POSITIVE_INFINITY },
  };
}

const listIn = (globs: string | readonly string[] | undefined): readonly string[] | undefined =>
  typeof globs === "string" ? [globs] : globs;

/** The names of a provider's models that callers cannot name. */
export function internalModels({ routing }: Config, prefixes: readonly string[]): ReadonlySet<string> {
  const targets = Object.values(routing.routes).flatMap(({ tiers }) => tiers.flat());
  const internal = targets.filter((target) => target.internal === true && prefixes.includes(prefixOf(target.model)));
  return new Set(internal.map(({ model }) => withoutPrefix(model)));
}

/** The circuits of all targets, whose changes are logged. */
export function circuitsOf({ clock, randomFraction: random }: Environment, logger: Logger): Circuits {
  return new Circuits({
    clock,
    random,
    onChange(id, change) {
      const model = modelOfCircuit(id);
      if (change === "closed") logger.info({ model }, "target works again");
      else logger.warn({ model, ms: Math.round(change.openMs) }, "target is left out");
    },
  });
}

/** Throws a `ConfigError` for a model without a price, and for a route whose targets have no operation in common. */
export function checkTargets(router: ModelRouter, { routing }: Config): void {
  for (const [name, named] of Object.entries(routing.routes)) {
    const path = `routing.routes.${name}`;
    let common: readonly ModelOperation[] | undefined;
    for (const { at, model, isTarget } of modelsIn(named)) {
      const priced = router.priced(model);
      if (priced === undefined) {
        const duty = `set pricing.models.${JSON.stringify(model)}`;
        throw new ConfigError(`${path}.${at}`, `${model} has no price; ${duty}`);
      }
      if (!isTarget) continue;
      const operations = callableOperations(priced.provider, priced.price);
      common = common?.filter((operation) => operations.includes(operation)) ?? operations;
    }
    if (common?.length === 0) throw new ConfigError(`${path}.tiers`, "its targets have no operation in common");
  }
}
