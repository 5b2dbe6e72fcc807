import type { Principal } from "../auth/index.ts";
import {
  type FailureName,
  failureTraits,
  GatewayError,
  type JsonObject,
  keysOf,
  listOf,
  type ModelOperation,
  type Nano,
  type RandomFraction,
} from "../core/index.ts";
import type { AwaitedHead } from "./health/awaited-heads.ts";
import type { BusyTargets } from "./busy-targets.ts";
import { type Admission, circuitIdOf, type CircuitOutcome, type Circuits } from "./health/circuits.ts";
import {
  callerOfRoute,
  type ModelRoute,
  noTargetFor,
  type RouteLimits,
  type RouteTarget,
  targetsOf,
} from "./model-routes.ts";
import type { ModelRouter, Target } from "./router.ts";
import { isFor, takesInput } from "./target-condition.ts";

/** Replaces the targets after the first: `none`, or model ids. */
const FALLBACK_HEADER = "x-tollgate-fallback";

const FALLBACKS_MAX = 5;

/** The failures after which a target is tried that names none. */
const defaultFailures: ReadonlySet<FailureName> = new Set([
  ...keysOf(failureTraits).filter((name) => failureTraits[name].isUnavailable),
  "context_window" as const,
]);

export interface TargetQuestion {
  router: ModelRouter;
  random: RandomFraction;
  busy: BusyTargets;
  /** Undefined if targets that fail are asked like all others. */
  circuits: Circuits | undefined;
  modelId: string;
  operations: readonly [ModelOperation, ...ModelOperation[]];
  principal: Principal;
  headers: Headers;
  /** The models of a chat body that are tried after its own one (`modelsIn`). */
  models?: readonly string[] | undefined;
  /** The key of its session: see `affinityOf`. */
  session: string | undefined;
  /** The only target that may be asked: an earlier part of the call has been answered there. */
  stay?: CallTarget | undefined;
}

/** Whether a call may have several targets: most have one, and are not looked at any further. */
export function mayHaveTargets(router: ModelRouter, modelId: string, headers: Headers): boolean {
  return router.routeOf(modelId) !== undefined || namesFallbacks(headers);
}

/** Whether a request names other models than its own. */
export function namesFallbacks(headers: Headers): boolean {
  return headers.has(FALLBACK_HEADER);
}

/**
 * The other models that a chat body names in OpenRouter's `models`; undefined without any, and if the provider of its own
 * model tries them itself.
 */
export function modelsIn(router: ModelRouter, { model, models }: JsonObject): readonly string[] | undefined {
  if (models === undefined) return undefined;
  const named = listOf(models).filter((each) => typeof each === "string");
  if (named.length === 0 || typeof model !== "string") return undefined;
  if (router.providerOf(model)?.provider.operations.chat?.triesModels === true) return undefined;
  return [...new Set(named)].filter((each) => each !== model);
}

/**
 * The targets of a call that may have several; undefined for a call with one. Throws `validation_failed` for a header that
 * is no list of ids, and for too many models in the body.
 */
export function callTargets(question: TargetQuestion): CallTargets | undefined {
  const { router, modelId, random, busy, session } = question;
  const route = router.routeOf(modelId);
  const fallbacks = fallbacksOf(question);
  if (fallbacks === undefined)
    return route && new CallTargets(question, route, targetsOf(route, random, { busy, session }));
  if (route === undefined && fallbacks.length === 0) return undefined;
  if (route === undefined) requireModel(question);
  const { principal, operations } = question;
  const first =
    route === undefined
      ? callersTarget(modelId)
      : targetsOf(route, random, { busy, session }).find(({ when }) => isFor(when, principal, operations[0]));
  const targets = first === undefined ? [] : [first, ...fallbacks.map(callersTarget)];
  return new CallTargets(question, route, targets);
}

/**
 * Throws for a model of the caller's that is none, or not for its token, as for a call without other targets: it may be mistyped. One whose
 * provider the operator has disabled, or given no key, is passed over.
 */
function requireModel({ router, modelId, operations, principal }: TargetQuestion): void {
  try {
    router.resolveModel(modelId, operations, principal);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || !isOperators(thrown)) throw thrown;
  }
}

const isOperators = ({ code }: GatewayError): boolean =>
  code === "provider_without_key" || code === "provider_disabled";

/** The caller's own targets after the first: of the header, else of the body. */
function fallbacksOf({ headers, models }: TargetQuestion): readonly string[] | undefined {
  const asked = headers.get(FALLBACK_HEADER);
  if (asked !== null) return asked.trim() === "none" ? [] : fallbacksIn(asked);
  if (models === undefined || models.length <= FALLBACKS_MAX) return models;
  const message = `models: write up to ${FALLBACKS_MAX} model ids besides the model.`;
  throw new GatewayError("validation_failed", message, { param: "models" });
}

function fallbacksIn(text: string): string[] {
  const ids = text.split(",").map((id) => id.trim());
  if (ids.length <= FALLBACKS_MAX && ids.every((id) => /^\S+$/.test(id))) return ids;
  const message = `${FALLBACK_HEADER}: write none, or up to ${FALLBACKS_MAX} model ids with commas between them.`;
  throw new GatewayError("validation_failed", message, { param: FALLBACK_HEADER });
}

/** A target of the caller's own, or of the operator's for one that the credits do not suffice for. */
export interface CallTarget extends RouteTarget {
  /** Whether the caller has named it: its route has no part in it. */
  isCallers?: boolean;
}

const targetOf = (model: string): CallTarget => ({ model, weight: 1, on: defaultFailures });
const callersTarget = (model: string): CallTarget => ({ ...targetOf(model), isCallers: true });

interface Candidate extends CallTarget {
  /** The id of its circuit. */
  circuit: string;
  /** Its provider's prefix. */
  provider: string;
}

/** The targets of one call that have not been tried yet. */
export class CallTargets {
  readonly #question: TargetQuestion;
  readonly #route: ModelRoute | undefined;
  readonly #left: Candidate[];
  /** Of the target that was given last, until its outcome is noted. */
  #admission: Admission | undefined;
  /** The target that was given last. */
  given: CallTarget | undefined;
  #leave: (() => void) | undefined;
  #isOverBudget = false;
  /** The name of the route; undefined for a model without one. */
  readonly route: string | undefined;
  /** The route's own bounds. */
  readonly limits: RouteLimits | undefined;
  /** Why the first target that was skipped cannot be used. */
  refusal: GatewayError | undefined;

  constructor(question: TargetQuestion, route: ModelRoute | undefined, targets: readonly CallTarget[]) {
    this.#question = question;
    this.#route = route;
    this.route = route?.name;
    this.limits = route?.limits;
    // A target that the caller cannot use must not shorten the time-outs of those before it.
    const { principal, operations, stay } = question;
    const usable = stay === undefined ? targets.filter(({ when }) => isFor(when, principal, operations[0])) : [stay];
    this.#left = usable.flatMap((target) => this.#candidates(target));
  }

  /** The prefixes of the providers of those that are left. */
  get providers(): string[] {
    return this.#left.map(({ provider }) => provider);
  }

  /** The error of a call that none of its targets can be asked for. */
  get unusable(): GatewayError {
    if (this.refusal !== undefined) return this.refusal;
    if (this.#route === undefined) throw new Error("a call without a target");
    return noTargetFor(this.#route);
  }

  /** Whether the target that was given last is for inputs of so many tokens. */
  takesInput(tokens: number): boolean {
    return this.#question.stay !== undefined || takesInput(this.given?.when, tokens);
  }

  /** The key of the call's session. */
  get session(): string | undefined {
    return this.#question.session;
  }

  /** Whether the targets are to be asked in the order of their costs. */
  get areByCost(): boolean {
    return this.#route?.strategy === "least_cost";
  }

  /** Orders the targets of each tier by the cost of the call there; those without one come last. */
  async orderByCost(costOf: (target: Target) => Promise<Nano | undefined>): Promise<void> {
    const tiers = this.#route?.tiers ?? [];
    const places = new Map<CallTarget, { tier: number; cost: Nano | undefined }>();
    for (const target of this.#left) {
      // The caller's own ones stay behind them, in their order.
      const resolved = target.isCallers === true ? undefined : this.#resolve(target);
      const tier = tiers.findIndex((targets) => targets.some(({ on }) => on === target.on));
      places.set(target, { tier: tier === -1 ? tiers.length : tier, cost: resolved && (await costOf(resolved)) });
    }
    this.#left.sort((a, b) => {
      const [one, other] = [places.get(a), places.get(b)];
      return (one?.tier ?? 0) - (other?.tier ?? 0) || compared(one?.cost, other?.cost);
    });
  }

  /** Whether there is a target to try after any failure. */
  get hasMore(): boolean {
    return this.#left.length > 0;
  }

  /** Whether there is one to try after this failure. */
  hasFor(failure: FailureName): boolean {
    return this.#left.some(({ on }) => on.has(failure));
  }

  /**
   * The next target that the caller may use, after a failure of this class, or the first one of all; undefined if there is
   * none. Targets that cannot be used are skipped: the token may not, the provider lacks the operation or a key, or there
   * is no price.
   */
  next(after?: FailureName): Target | undefined {
    for (;;) {
      // The target before may not have been asked.
      this.note("none");
      const target = this.#admitted(this.#left.filter(({ on }) => after === undefined || on.has(after)));
      if (target === undefined) return undefined;
      this.#left.splice(this.#left.indexOf(target), 1);
      const resolved = this.#resolve(target);
      if (resolved === undefined) continue;
      this.#leave?.();
      this.given = target;
      this.#leave = this.#question.busy.begin(target.model);
      return resolved;
    }
  }

  /** The targets of this provider come first. `alone`: those of all others are none, since it has objects that the call refers to. */
  prefer(provider: string, { alone }: { alone: boolean }): void {
    const [own, others] = [true, false].map((isOwn) =>
      this.#left.filter((target) => (target.provider === provider) === isOwn),
    );
    this.#left.splice(0, Infinity, ...(own ?? []), ...(alone ? [] : (others ?? [])));
  }

  /** The call has ended, maybe before it was sent. Returns the id of the target that was given last, which it has left. */
  leave(): string | undefined {
    this.note("none");
    this.#leave?.();
    return this.given?.model;
  }

  /** Whether the circuit of the target that was given last depends on its answer. */
  get isProbe(): boolean {
    return this.#admission?.isProbe === true;
  }

  /** A stream is asked for at the target that was given last. */
  awaitHead(): AwaitedHead | undefined {
    return this.#admission && this.#question.circuits?.heads.begin(this.#admission.id);
  }

  /** The outcome of the target that was given last. */
  note(outcome: CircuitOutcome): void {
    if (this.#admission !== undefined) this.#question.circuits?.note(this.#admission, outcome);
    this.#admission = undefined;
  }

  /** The first of these targets whose circuit lets a call through; if none does, the one that is due first. */
  #admitted(targets: readonly Candidate[]): Candidate | undefined {
    const { circuits } = this.#question;
    if (circuits === undefined) return targets[0];
    for (const target of targets) {
      this.#admission = circuits.admit(target.circuit);
      if (this.#admission !== undefined) return target;
    }
    const [first] = targets.toSorted((a, b) => circuits.dueAt(a.circuit) - circuits.dueAt(b.circuit));
    this.#admission = first && circuits.force(first.circuit);
    return first;
  }

  /**
   * Whether another target is tried before any has been asked, since this refusal is about the price of the first one. The
   * route may have a model for that, which is the only one then.
   */
  passesOver(refusal: unknown): boolean {
    if (!(refusal instanceof GatewayError) || this.#question.stay !== undefined) return false;
    if (refusal.code === "max_credits_exceeded") return true;
    const instead = this.#route?.overBudget;
    if (refusal.code !== "insufficient_credits" || instead === undefined) return false;
    if (instead !== "next" && !this.#isOverBudget)
      this.#left.splice(0, Infinity, ...this.#candidates(targetOf(instead)));
    this.#isOverBudget = true;
    return true;
  }

  /** A target was skipped for this reason; anything but a refusal is thrown. */
  skip(thrown: unknown): void {
    if (!(thrown instanceof GatewayError)) throw thrown;
    this.refusal ??= thrown;
  }

  /** The target, if the caller may use it. */
  #candidates(target: CallTarget): Candidate[] {
    const resolved = this.#resolve(target);
    if (resolved === undefined) return [];
    return [{ ...target, circuit: circuitIdOf(resolved), provider: resolved.route.prefix }];
  }

  #resolve({ model, isCallers = false }: CallTarget): Target | undefined {
    const { router, operations, principal } = this.#question;
    const route = isCallers ? undefined : this.#route;
    try {
      if (route === undefined) return router.resolveModel(model, operations, principal);
      return router.resolveTarget(route, model, operations, callerOfRoute(principal, route));
    } catch (thrown) {
      this.skip(thrown);
      return undefined;
    }
  }
}

function compared(a: Nano | undefined, b: Nano | undefined): number {
  if (a === b) return 0;
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1;
  return a < b ? -1 : 1;
}
