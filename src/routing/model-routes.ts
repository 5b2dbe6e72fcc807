/** Names that stand for several targets, in the order in which they are tried. */
import {
  type FailureName,
  GatewayError,
  matchesGlob,
  type ModelOperation,
  type RandomFraction,
} from "../core/index.ts";
import type { BusyTargets } from "./busy-targets.ts";
import { placeOf } from "./prefer.ts";
import { isFor, type ModelCaller, type TargetCondition } from "./target-condition.ts";

export interface RouteTarget {
  /** The model id, with its prefix. */
  model: string;
  /** How often it comes first in its tier, compared with the others. */
  weight: number;
  /** The classes of failure after which it is tried. */
  on: ReadonlySet<FailureName>;
  /** The calls that it is for; undefined for all. */
  when?: TargetCondition | undefined;
}

/** How far a stream must come in time before its call is its target's. */
export interface CommitRule {
  /** Characters of content. */
  chars: number;
  /** From the first content on, in milliseconds. */
  withinMs: number;
}

/** The bounds of a call with several targets. */
export interface RouteLimits {
  /** Requests to all targets together. */
  attempts: number;
  /** How long after its start another attempt may begin, in milliseconds. */
  deadlineMs: number;
  /** How long a target but the last may take until its stream begins, and half as long as until its content begins, in milliseconds. */
  attemptMsMax: number;
  /** The same until an answer begins that is not streamed. */
  wholeMsMax: number;
  /** After how long the client of a stream gets the head, whatever the targets do, in milliseconds. */
  headMsMax: number;
  /** Undefined: its first content is enough. */
  commit: CommitRule | undefined;
}

/**
 * The order of the targets of a tier: as written, drawn by weight, those with the fewest calls for their weight first, or
 * those with the least expected cost of the call.
 */
type RouteStrategy = "order" | "weighted" | "least_busy" | "least_cost";

export interface ModelRoute {
  name: string;
  tiers: readonly (readonly RouteTarget[])[];
  strategy: RouteStrategy;
  limits: RouteLimits;
  /** For a call whose credits do not suffice for its first target: `next`, or a model; undefined if it is refused. */
  overBudget?: string | undefined;
  /** The model whose price is charged for all targets; undefined for their own prices. */
  priceOf?: string | undefined;
}

/**
 * The targets of a route for one call, the first one first. Those of a session have one order, which no two draws change. What
 * they cost is only known once they are planned.
 */
export function targetsOf(
  { tiers, strategy }: ModelRoute,
  random: RandomFraction,
  { busy, session }: { busy: BusyTargets; session?: string | undefined },
): RouteTarget[] {
  if (strategy === "order" || strategy === "least_cost") return tiers.flat();
  const fractionOf = session === undefined ? random : ({ model }: RouteTarget): number => placeOf(session, model);
  if (strategy === "weighted") return tiers.flatMap((tier) => drawn(tier, fractionOf));
  const loadOf = ({ model, weight }: RouteTarget): number => busy.of(model) / weight;
  return tiers.flatMap((tier) => drawn(tier, fractionOf).toSorted((a, b) => loadOf(a) - loadOf(b)));
}

/** The refusal of a call that no target of a route is for. */
export function noTargetFor({ name }: ModelRoute): GatewayError {
  return new GatewayError("model_not_routed", `The route ${name} has no target for this call.`, { param: "model" });
}

/** The caller as the targets of a route are checked for it: a list that has the route's own name permits them all. */
export function callerOfRoute(caller: ModelCaller, { name }: ModelRoute): ModelCaller {
  const lists = caller.models === undefined ? [] : [caller.models, ...(caller.modelsAbove ?? [])];
  const [models, ...modelsAbove] = lists.filter((globs) => !globs.some((glob) => matchesGlob(glob, name)));
  return { ...caller, models, modelsAbove, isRoute: true };
}

/** The result of `usableIn` for the first target that can be used. */
export function firstUsable<Found>(...parameters: Parameters<typeof usableIn<Found>>): Found {
  for (const found of usableIn(...parameters)) return found;
  throw new Error("a route without a target");
}

/**
 * The results of `find` for the targets for which it throws nothing; throws its first refusal if there is none. The length of the
 * input is no matter.
 */
export function* usableIn<Found>(
  route: ModelRoute,
  { caller, operation }: { caller: ModelCaller; operation?: ModelOperation },
  find: (model: string, user: ModelCaller) => Found,
): Generator<Found> {
  const user = callerOfRoute(caller, route);
  let refusal: GatewayError | undefined;
  let isUsable = false;
  for (const { model, when } of route.tiers.flat()) {
    if (!isFor(when, caller, operation)) continue;
    let found: Found;
    try {
      found = find(model, user);
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      refusal ??= thrown;
      continue;
    }
    isUsable = true;
    yield found;
  }
  if (!isUsable) throw refusal ?? noTargetFor(route);
}

/** By weight, without returning: the largest of u^(1/w) comes first with a probability of its share of the weights. */
function drawn(tier: readonly RouteTarget[], fractionOf: (target: RouteTarget) => number): RouteTarget[] {
  return tier
    .map((target) => ({ target, place: Math.log(1 - fractionOf(target)) / target.weight }))
    .toSorted((a, b) => b.place - a.place)
    .map(({ target }) => target);
}
