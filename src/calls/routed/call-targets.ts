import type { Principal } from "../../auth/index.ts";
import {
  type FailureName,
  failureTraits,
  GatewayError,
  keysOf,
  type ModelOperation,
  type RandomFraction,
} from "../../core/index.ts";
import {
  type Admission,
  callerOfRoute,
  circuitIdOf,
  type CircuitOutcome,
  type Circuits,
  type ModelRouter,
  type ModelRoute,
  type RouteLimits,
  type RouteTarget,
  type Target,
  targetsOf,
} from "../../routing/index.ts";

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
  /** Undefined if targets that fail are asked like all others. */
  circuits: Circuits | undefined;
  modelId: string;
  operations: readonly [ModelOperation, ...ModelOperation[]];
  principal: Principal;
  headers: Headers;
  /** The key of its session: see `affinityOf`. */
  session: string | undefined;
}

/** Whether a call may have several targets: most have one, and are not looked at any further. */
export function mayHaveTargets(router: ModelRouter, modelId: string, headers: Headers): boolean {
  return router.routeOf(modelId) !== undefined || headers.has(FALLBACK_HEADER);
}

/**
 * The targets of a call that may have several; undefined for a call with one. Throws `validation_failed` for a header that
 * is no list of ids.
 */
export function callTargets(question: TargetQuestion): CallTargets | undefined {
  const { router, modelId, headers, random, session } = question;
  const route = router.routeOf(modelId);
  const asked = headers.get(FALLBACK_HEADER);
  if (asked === null) return route && new CallTargets(question, route, targetsOf(route, random, session));
  const fallbacks = asked.trim() === "none" ? [] : fallbacksIn(asked);
  if (route === undefined && fallbacks.length === 0) return undefined;
  const first = route === undefined ? [targetOf(modelId)] : targetsOf(route, random, session).slice(0, 1);
  return new CallTargets(question, route, [...first, ...fallbacks.map(targetOf)]);
}

function fallbacksIn(text: string): string[] {
  const ids = text.split(",").map((id) => id.trim());
  if (ids.length <= FALLBACKS_MAX && ids.every((id) => id !== "")) return ids;
  const message = `${FALLBACK_HEADER}: write none, or up to ${FALLBACKS_MAX} model ids with commas between them.`;
  throw new GatewayError("validation_failed", message, { param: FALLBACK_HEADER });
}

const targetOf = (model: string): RouteTarget => ({ model, weight: 1, on: defaultFailures });

interface Candidate extends RouteTarget {
  /** The id of its circuit. */
  circuit: string;
}

/** The targets of one call that have not been tried yet. */
export class CallTargets {
  readonly #question: TargetQuestion;
  readonly #caller: Principal;
  readonly #left: Candidate[];
  /** Of the target that was given last, until its outcome is noted. */
  #admission: Admission | undefined;
  /** The name of the route; undefined for a model without one. */
  readonly route: string | undefined;
  /** The route's own bounds. */
  readonly limits: RouteLimits | undefined;
  /** Why the first target that was skipped cannot be used. */
  refusal: GatewayError | undefined;

  constructor(question: TargetQuestion, route: ModelRoute | undefined, targets: readonly RouteTarget[]) {
    this.#question = question;
    const { principal } = question;
    this.#caller = route === undefined ? principal : callerOfRoute(principal, route);
    this.route = route?.name;
    this.limits = route?.limits;
    // A target that the caller cannot use must not shorten the time-outs of those before it.
    this.#left = targets.flatMap((target) => {
      const resolved = this.#resolve(target);
      return resolved === undefined ? [] : [{ ...target, circuit: circuitIdOf(resolved) }];
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
      if (resolved !== undefined) return resolved;
    }
  }

  /** Whether the circuit of the target that was given last depends on its answer. */
  get isProbe(): boolean {
    return this.#admission?.isProbe === true;
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

  /** A target was skipped for this reason; anything but a refusal is thrown. */
  skip(thrown: unknown): void {
    if (!(thrown instanceof GatewayError)) throw thrown;
    this.refusal ??= thrown;
  }

  #resolve({ model }: RouteTarget): Target | undefined {
    const { router, operations } = this.#question;
    try {
      return router.resolveModel(model, operations, this.#caller);
    } catch (thrown) {
      this.skip(thrown);
      return undefined;
    }
  }
}
