/** The fate of each target of a call, for operators: asked or not, why not, and at which price. Nothing is sent or held. */
import { type ErrorCode, type FailureName, GatewayError, type ModelOperation, type Nano } from "../core/index.ts";
import { chargeFor, type ModelPrice, soldAt, withMarkup } from "../pricing/index.ts";
import { circuitIdOf } from "./health/circuits.ts";
import { callerOfRoute, type ModelRoute, type RouteTarget } from "./model-routes.ts";
import { textOperations } from "./model-operations.ts";
import type { ModelRouter, Target } from "./router.ts";
import { isFor, type ModelCaller, takesInput } from "./target-condition.ts";

/**
 * Why a target is not asked: its condition, the token's list, the provider, its price or the credits; `left_out` after failures,
 * or the class of failure that its keys have had.
 */
type SkipReason =
  | "not_for_call"
  | "not_allowed"
  | "no_operation"
  | "no_key"
  | "disabled"
  | "unpriced"
  | "unaffordable"
  | "left_out"
  | "key_refused";

export interface RouteQuestion {
  modelId: string;
  operation: ModelOperation;
  /** Its token; its markup in millionths, undefined for the configuration's. */
  caller: ModelCaller & { markup?: number | undefined };
  /** The most that the caller's call of a model, by its id with prefix, may cost, in nano-credits; undefined without a limit. */
  availableFor: (model: string) => Nano | undefined;
  /** The tokens of the call; undefined if conditions about its input are not to count. */
  usage: { input: number; output: number } | undefined;
  /** Until when a circuit is open, in milliseconds since the epoch; undefined if it is not. */
  openUntil: (circuit: string) => number | undefined;
}

export interface ExplainedTarget {
  model: string;
  /** Counted from 1. */
  tier: number;
  weight: number;
  /** The failures after which it is tried, if another target comes before it. */
  on: readonly FailureName[];
  /** Undefined if it is asked. */
  why: SkipReason | undefined;
  /** The sentence that a caller would get; absent without one. */
  message?: string;
  /** Of `left_out`, in milliseconds since the epoch. */
  until?: number;
  /** With the token's markup; undefined without a price. */
  price: ModelPrice | undefined;
  /** Of the given usage, in nano-credits. */
  cost?: Nano;
  /** The most that a call of it may cost, in nano-credits; undefined without a limit. */
  available: Nano | undefined;
}

export interface ExplainedRoute {
  /** The name of the route; undefined for a model without one. */
  route: string | undefined;
  strategy: ModelRoute["strategy"] | undefined;
  overBudget: string | undefined;
  priceOf: string | undefined;
  /** In the order of the configuration. */
  targets: readonly ExplainedTarget[];
}

/** Explains a route, or a model as the only target. Throws a `GatewayError` (404) for a name that is neither. */
export function explainRoute(router: ModelRouter, question: RouteQuestion): ExplainedRoute {
  const route = router.routeOf(question.modelId);
  if (route === undefined) router.requireProvider(question.modelId);
  const tiers = route?.tiers ?? [[{ model: question.modelId, weight: 1, on: new Set<FailureName>() }]];
  const targets = tiers.flatMap((tier, index) =>
    tier.map((target) => ({ tier: index + 1, ...explained(router, question, { route, target }) })),
  );
  const { name, strategy, overBudget, priceOf } = route ?? {};
  return { route: name, strategy, overBudget, priceOf, targets };
}

interface Candidate {
  route: ModelRoute | undefined;
  target: RouteTarget;
}

function explained(
  router: ModelRouter,
  question: RouteQuestion,
  { route, target: { model, weight, on, when } }: Candidate,
): Omit<ExplainedTarget, "tier"> {
  const { caller, operation, usage } = question;
  const { target, refusal } = resolved(router, question, { route, model });
  const own = target?.price ?? listedPrice(router, route, model);
  const price = withMarkup(own, caller.markup === undefined ? undefined : BigInt(caller.markup));
  const cost = price && usage && chargeFor(price, { usage });
  const isForCall = isFor(when, caller, operation) && (usage === undefined || takesInput(when, usage.input));
  const available = question.availableFor(target === undefined ? model : `${target.route.prefix}/${target.model}`);
  const known = { model, weight, on: [...on], price, available, ...(cost !== undefined && { cost }) };
  if (!isForCall) return { ...known, why: "not_for_call" };
  if (target === undefined) return { ...known, why: reasonOf(refusal), message: refusal.message };
  if (available !== undefined && (cost ?? leastCharge(target)) > available) return { ...known, why: "unaffordable" };
  return { ...known, ...stateOf(question, target) };
}

type Resolved = { target: Target; refusal?: undefined } | { target?: undefined; refusal: GatewayError };

function resolved(
  router: ModelRouter,
  { operation, caller }: RouteQuestion,
  { route, model }: { route: ModelRoute | undefined; model: string },
): Resolved {
  const operations = replaceable(operation);
  try {
    if (route === undefined) return { target: router.resolveModel(model, operations, caller) };
    return { target: router.resolveTarget(route, model, operations, callerOfRoute(caller, route)) };
  } catch (thrown) {
    if (thrown instanceof GatewayError) return { refusal: thrown };
    throw thrown;
  }
}

/** Text is generated in every dialect. */
function replaceable(operation: ModelOperation): [ModelOperation, ...ModelOperation[]] {
  const isText = textOperations.includes(operation);
  return [operation, ...(isText ? textOperations.filter((other) => other !== operation) : [])];
}

/** The price of a target that cannot be used. */
function listedPrice(router: ModelRouter, route: ModelRoute | undefined, model: string): ModelPrice | undefined {
  const own = router.priced(model)?.price;
  const seller = route?.priceOf === undefined ? undefined : router.priced(route.priceOf)?.price;
  return own && seller ? soldAt(seller, own) : own;
}

const reasons: Partial<Record<ErrorCode, SkipReason>> = {
  model_not_routed: "not_allowed",
  unsupported_operation: "no_operation",
  provider_without_key: "no_key",
  provider_disabled: "disabled",
  model_unpriced: "unpriced",
};

function reasonOf(refusal: GatewayError): SkipReason {
  const reason = reasons[refusal.code];
  if (reason === undefined) throw refusal;
  return reason;
}

/** Without a usage: not even a token can be paid. */
function leastCharge({ price }: Target): Nano {
  return chargeFor(price, { usage: { input: 1, output: 1 } });
}

/** The fact that the router does not look at: the failures before. */
function stateOf({ openUntil }: RouteQuestion, target: Target): Pick<ExplainedTarget, "why" | "until"> {
  if (target.route.keys.refuses(target.operation.path, target.model)) return { why: "key_refused" };
  const until = openUntil(circuitIdOf(target));
  return until === undefined ? { why: undefined } : { why: "left_out", until };
}
