/**
 * A call that may have several targets: each is planned when its turn comes, from the same received body, and gets the hold
 * of the work before anything is sent to it. Another target follows a failure
 *
 * - whose class that target is for,
 * - after which the kind of work may be done again (`repeatRuleOf`),
 * - as long as nothing has reached the client, and attempts and time are left.
 *
 * A target with another one behind it is asked again only with another key. When all fail, the client gets the last error
 * that a provider itself has given, else the last failure.
 */
import type { RunningWork } from "../../charges/index.ts";
import { type FailureName, failureTraits } from "../../core/index.ts";
import type { Target } from "../../routing/index.ts";
import { type FailedAttempt, mayRepeat, type Reply, repeatRuleOf, type SendDependencies } from "../../sending/index.ts";
import type { CallPlan } from "../plan-call.ts";
import { readAttempt, type RequestAttempt, sendCall } from "../send-call.ts";
import type { CallTargets } from "./call-targets.ts";

/** The bounds of a call with several targets. */
interface RouteLimits {
  /** Requests to all targets together. */
  attempts: number;
  /** How long after its start another attempt may begin, in milliseconds. */
  deadlineMs: number;
  /** How long a target but the last may take until its stream begins, in milliseconds. */
  attemptMsMax: number;
  /** The same until an answer begins that is not streamed. */
  wholeMsMax: number;
}

export interface RoutedDependencies extends SendDependencies {
  routeLimits: RouteLimits;
}

/** The reply that the client gets, and the plan of the target that gave it. */
interface RoutedReply {
  plan: CallPlan;
  reply: Reply;
}

/** Sends the call to one target after the other. Rejects as `sendUpstream` and `readReply` do. */
export function sendRouted(
  deps: RoutedDependencies,
  running: RunningWork<CallPlan, Target>,
  first: CallPlan,
  targets: CallTargets,
): Promise<RoutedReply> {
  return new RoutedCall(deps, running, targets).send(first);
}

class RoutedCall {
  readonly #deps: RoutedDependencies;
  readonly #running: RunningWork<CallPlan, Target>;
  readonly #targets: CallTargets;
  readonly #startedAt: number;
  #attemptsLeft: number;
  /** The last error that a provider has given. */
  #said: RoutedReply | undefined;

  constructor(deps: RoutedDependencies, running: RunningWork<CallPlan, Target>, targets: CallTargets) {
    this.#deps = deps;
    this.#running = running;
    this.#targets = targets;
    this.#startedAt = this.#now;
    this.#attemptsLeft = deps.routeLimits.attempts;
  }

  async send(first: CallPlan): Promise<RoutedReply> {
    let plan = first;
    for (;;) {
      const failures: FailedAttempt[] = [];
      let thrown: unknown;
      try {
        const reply = await this.#ask(plan, failures);
        if (reply.kind !== "failed") return { plan, reply };
        this.#said = { plan, reply };
      } catch (reason) {
        thrown = reason;
        this.#checkOpen();
      }
      const next = await this.#moveOn(plan, failures);
      if (next !== undefined) plan = next;
      else if (this.#said !== undefined) return this.#said;
      else throw thrown;
    }
  }

  get #now(): number {
    return this.#running.watchdog.ticker.now();
  }

  get #msLeft(): number {
    return this.#startedAt + this.#deps.routeLimits.deadlineMs - this.#now;
  }

  /** The client has left, or the gateway stops: nothing else is tried. */
  #checkOpen(): void {
    const { signal } = this.#running.watchdog.abort;
    if (signal.aborted) throw signal.reason;
  }

  /** Asks one target, and waits for the whole of an answer that is not streamed: until then, another may still be asked. */
  async #ask(plan: CallPlan, failures: FailedAttempt[]): Promise<Reply> {
    const watchdog = this.#running.watchdog.ofAttempt();
    const attempt: RequestAttempt = {
      watchdog,
      hasNext: this.#targets.hasMore && this.#attemptsLeft > 1,
      onFailure: (failed, requests) => {
        this.#attemptsLeft -= requests;
        failures.push(failed);
      },
    };
    try {
      const deps = { ...this.#deps, send: { ...this.#deps.send, ...this.#boundsOf(plan, attempt) } };
      const sent = await sendCall(deps, this.#running, plan, attempt);
      if (sent.kind !== "stream" || plan.exchange.streamed || plan.exchange.observeBytes !== undefined) return sent;
      return await readAttempt(deps, plan, sent, { memory: this.#running.memory, attempt });
    } finally {
      watchdog.end();
    }
  }

  #boundsOf({ exchange }: CallPlan, { hasNext }: RequestAttempt): { firstByteMsMax: number; retries: number } {
    const { send, routeLimits } = this.#deps;
    const ownMsMax = exchange.streamed ? routeLimits.attemptMsMax : routeLimits.wholeMsMax;
    const msMax = hasNext ? Math.min(ownMsMax, send.firstByteMsMax) : send.firstByteMsMax;
    const again = this.#attemptsLeft - 1;
    return {
      firstByteMsMax: Math.max(Math.min(msMax, this.#msLeft), 1),
      retries: hasNext ? again : Math.min(send.retries, again),
    };
  }

  /** The plan of the next target, which has the hold then; undefined if there is none. */
  async #moveOn({ order }: CallPlan, failures: readonly FailedAttempt[]): Promise<CallPlan | undefined> {
    const rule = repeatRuleOf(order.operation);
    const after = classOf(failures);
    if (after === undefined || !failures.every((failed) => mayRepeat(rule, failed))) return undefined;
    while (this.#attemptsLeft > 0 && this.#msLeft > 0) {
      const target = this.#targets.next(after);
      if (target === undefined) return undefined;
      const plan = await this.#planFor(target);
      if (plan !== undefined && (await this.#running.work.moveTo(plan.order)) === "moved") {
        this.#checkOpen();
        const { streamed } = plan.exchange;
        this.#running.watchdog.limitTotal(streamed ? Number.POSITIVE_INFINITY : this.#deps.send.totalMsMax);
        return plan;
      }
    }
    return undefined;
  }

  async #planFor(target: Target): Promise<CallPlan | undefined> {
    try {
      return await this.#running.plan(target);
    } catch (thrown) {
      this.#targets.skip(thrown);
      return undefined;
    }
  }
}

/** The class that decides about the next target: of several requests, one that is about the request itself. */
function classOf(failures: readonly FailedAttempt[]): FailureName | undefined {
  const names = failures.flatMap(({ failure }) => (failure === "abandoned" ? [] : [failure.name]));
  return names.find((name) => !failureTraits[name].isUnavailable) ?? names.at(-1);
}
