/** Names that stand for several targets, in the order in which they are tried. */
import type { Principal } from "../auth/index.ts";
import { type FailureName, GatewayError, matchesGlob, type RandomFraction } from "../core/index.ts";
import { placeOf } from "./prefer.ts";

export interface RouteTarget {
  /** The model id, with its prefix. */
  model: string;
  /** How often it comes first in its tier, compared with the others. */
  weight: number;
  /** The classes of failure after which it is tried. */
  on: ReadonlySet<FailureName>;
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

export interface ModelRoute {
  name: string;
  tiers: readonly (readonly RouteTarget[])[];
  strategy: "order" | "weighted";
  limits: RouteLimits;
}

/** The targets of a route for one call, the first one first. Those of a session have one order, which no two draws change. */
export function targetsOf(
  { tiers, strategy }: ModelRoute,
  random: RandomFraction,
  session: string | undefined,
): RouteTarget[] {
  if (strategy === "order") return tiers.flat();
  const fractionOf = session === undefined ? random : ({ model }: RouteTarget): number => placeOf(session, model);
  return tiers.flatMap((tier) => drawn(tier, fractionOf));
}

/** The caller as the targets of a route are checked for it: a token whose list has the route's own name may use them all. */
export function callerOfRoute(principal: Principal, { name }: ModelRoute): Principal {
  const { models } = principal;
  return models?.some((glob) => matchesGlob(glob, name)) === true ? { ...principal, models: undefined } : principal;
}

/** The result of `find` for the first target for which it throws nothing; throws its first refusal if there is none. */
export function firstUsable<Found>(
  route: ModelRoute,
  principal: Principal,
  find: (model: string, user: Principal) => Found,
): Found {
  const user = callerOfRoute(principal, route);
  let refusal: unknown;
  for (const { model } of route.tiers.flat()) {
    try {
      return find(model, user);
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      refusal ??= thrown;
    }
  }
  throw refusal;
}

/** By weight, without returning: the largest of u^(1/w) comes first with a probability of its share of the weights. */
function drawn(tier: readonly RouteTarget[], fractionOf: (target: RouteTarget) => number): RouteTarget[] {
  return tier
    .map((target) => ({ target, place: Math.log(1 - fractionOf(target)) / target.weight }))
    .toSorted((a, b) => b.place - a.place)
    .map(({ target }) => target);
}
