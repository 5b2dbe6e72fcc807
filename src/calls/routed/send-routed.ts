/**
 * A call that may have several targets: each is planned when its turn comes, from the same received body, and gets the hold
 * of the work before anything is sent to it. Another target follows a failure
 *
 * - whose class that target is for,
 * - after which the kind of work may be done again (`repeatRules`),
 * - as long as nothing has reached the client, and attempts and time are left.
 *
 * A target with another one behind it is asked again only with another key, and its stream is held until its first content.
 * When all fail, the client gets a refusal that came as an answer, else the last error that a provider itself has given, of those
 * that are not about the operator's account if there are others, else the last failure.
 */
import type { RunningWork } from "../../charges/index.ts";
import { GatewayError } from "../../core/index.ts";
import { firstContentOf } from "../../dialects/index.ts";
import type { CallTargets, RouteLimits, Target } from "../../routing/index.ts";
import {
  circuitOutcomeOf,
  classifyAnswer,
  decidingClass,
  type FailedAttempt,
  moveOn,
  ProviderErrors,
  type Reply,
  type SendDependencies,
  type StreamReply,
} from "../../sending/index.ts";
import { EVENT_STREAM } from "../../streaming/index.ts";
import type { CallPlan } from "../plan-call.ts";
import { confirmAnswer, loseAnswer, lostAnswer, readAttempt, type RequestAttempt, sendCall } from "../send-call.ts";
import { HeldBody } from "./held-body.ts";
import { contentReaderOf, hasRefused } from "./read-content.ts";

/** How long the head of a stream may take of a target whose circuit is half-open. That of any other answer comes at its end. */
const PROBE_MS_MAX = 3_000;

/** How much longer than its head the first content of a stream may take. */
const CONTENT_TIMES = 2;

export interface RoutedDependencies extends SendDependencies {
  /** Of calls without a route of their own. */
  routeLimits: RouteLimits;
}

/** The reply that the client gets, and the plan of the target that gave it. */
interface RoutedReply {
  plan: CallPlan;
  reply: Reply;
}

/** The reply of one target. */
interface AskedReply {
  reply: Reply;
  /** Whether another target comes before it. */
  isFailure: boolean;
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
  readonly #limits: RouteLimits;
  readonly #startedAt: number;
  readonly #errors = new ProviderErrors<RoutedReply>();
  /** The first refusal with a status of success. */
  #refused: RoutedReply | undefined;

  constructor(deps: RoutedDependencies, running: RunningWork<CallPlan, Target>, targets: CallTargets) {
    this.#deps = deps;
    this.#running = running;
    this.#targets = targets;
    this.#limits = targets.limits ?? deps.routeLimits;
    this.#startedAt = this.#now;
    running.work.asked.route = targets.route;
  }

  async send(first: CallPlan): Promise<RoutedReply> {
    let plan = first;
    for (;;) {
      const failures: FailedAttempt[] = [];
      let thrown: unknown;
      try {
        const { reply, isFailure } = await this.#ask(plan, failures);
        if (!isFailure) {
          this.#targets.note("works");
          return { plan, reply };
        }
        if (decidingClass(failures) === "content_policy" && reply.kind !== "failed") this.#refused ??= { plan, reply };
        else this.#errors.note({ plan, reply }, failures);
      } catch (reason) {
        thrown = reason;
        if (this.#running.watchdog.abort.signal.aborted) this.#targets.note("none");
        this.#checkOpen();
      }
      const last = failures.at(-1);
      this.#targets.note(last === undefined ? "none" : circuitOutcomeOf(last.failure));
      const next = await this.#moveOn(plan, failures);
      if (next === undefined) {
        const word = await this.#lastWord(plan);
        if (word === undefined) throw thrown;
        return word;
      }
      plan = next;
    }
  }

  get #now(): number {
    return this.#running.watchdog.ticker.now();
  }

  get #msLeft(): number {
    return this.#startedAt + this.#limits.deadlineMs - this.#now;
  }

  get #attemptsLeft(): number {
    return this.#limits.attempts - this.#running.attempts;
  }

  /** The client has left, or the gateway stops: nothing else is tried. */
  #checkOpen(): void {
    const { signal } = this.#running.watchdog.abort;
    if (signal.aborted) throw signal.reason;
  }

  /** Asks one target, and waits until no other one may be asked: for a stream's content, or for the whole of any other answer. */
  async #ask(plan: CallPlan, failures: FailedAttempt[]): Promise<AskedReply> {
    const watchdog = this.#running.watchdog.ofAttempt();
    const hasNext = this.#targets.hasMore && this.#attemptsLeft > 1;
    const attempt: RequestAttempt = { watchdog, hasNext, onFailure: (failed) => void failures.push(failed) };
    const head = plan.exchange.streamed ? this.#targets.awaitHead() : undefined;
    try {
      const deps = { ...this.#deps, send: { ...this.#deps.send, ...this.#boundsOf(plan, attempt) } };
      const sent = await sendCall(deps, this.#running, plan, attempt);
      if (sent.kind !== "stream") return { reply: sent, isFailure: sent.kind === "failed" };
      head?.came();
      if (isRelayed(plan, sent)) return await this.#hold(plan, sent, attempt);
      const reply = await readAttempt(deps, this.#running, plan, { sent, attempt });
      if (reply.kind === "failed") return { reply, isFailure: true };
      const isFailure = this.#targets.hasFor("content_policy") && hasRefused(plan, reply);
      if (isFailure) loseAnswer(deps, this.#running, plan, { sent, attempt, failure: refusal, isLost: true });
      else confirmAnswer(deps, this.#running, plan, sent);
      return { reply, isFailure };
    } finally {
      head?.end();
      watchdog.end();
    }
  }

  /** Holds a stream until its first content, if another target is left. */
  async #hold(plan: CallPlan, sent: StreamReply, attempt: RequestAttempt): Promise<AskedReply> {
    const hasNext = this.#targets.hasMore && this.#attemptsLeft > 0 && this.#msLeft > 0;
    const reader = hasNext ? contentReaderOf(plan) : undefined;
    if (reader === undefined) return this.#pass(plan, sent);
    const content = firstContentOf(reader);
    const isTimed = this.#targets.hasFor("no_content");
    const { watchdog } = attempt;
    const body = new HeldBody(sent.body, {
      content,
      endsAtRefusal: this.#targets.hasFor("content_policy"),
      commit: isTimed ? this.#limits.commit : undefined,
      onBegun: (withinMs) => watchdog.expect(withinMs, "The upstream's stream went on too slowly."),
    });
    if (isTimed)
      watchdog.expect(CONTENT_TIMES * this.#limits.attemptMsMax, "The upstream's stream had no content in time.");
    const end = await body.hold();
    watchdog.stopWaiting();
    if (end.kind === "passing") return this.#pass(plan, sent, body);
    if (this.#running.watchdog.abort.signal.aborted)
      loseAnswer(this.#deps, this.#running, plan, { sent, attempt, failure: "abandoned" });
    this.#checkOpen();
    const isRefused = content.failure === undefined && content.progress === "refusal";
    if (end.kind === "failed") {
      const failure = content.failure && classifyAnswer(plan.target.route.provider.failures, content.failure);
      loseAnswer(this.#deps, this.#running, plan, { sent, attempt, failure: failure ?? refusal, isLost: isRefused });
      return { reply: { ...sent, body }, isFailure: true };
    }
    const failure = isRefused ? refusal : lostAnswer("no_content");
    loseAnswer(this.#deps, this.#running, plan, { sent, attempt, failure, isLost: true });
    if (end.cause instanceof GatewayError) throw end.cause;
    throw new GatewayError("upstream_interrupted", "The upstream's stream broke off.", { cause: end.cause });
  }

  /** The stream goes to the client from here on. */
  #pass(plan: CallPlan, sent: StreamReply, body: StreamReply["body"] = sent.body): AskedReply {
    confirmAnswer(this.#deps, this.#running, plan, sent);
    return { reply: { ...sent, body }, isFailure: false };
  }

  #boundsOf({ exchange }: CallPlan, { hasNext }: RequestAttempt): { firstByteMsMax: number; retries: number } {
    const { send } = this.#deps;
    const { attemptMsMax, wholeMsMax } = this.#limits;
    const isTimed = hasNext && this.#targets.hasFor("no_head");
    const [usualMsMax, probeMsMax] = exchange.streamed ? [attemptMsMax, PROBE_MS_MAX] : [wholeMsMax, attemptMsMax];
    const ownMsMax = this.#targets.isProbe ? Math.min(usualMsMax, probeMsMax) : usualMsMax;
    const msMax = isTimed ? Math.min(ownMsMax, send.firstByteMsMax) : send.firstByteMsMax;
    const again = this.#attemptsLeft - 1;
    return {
      firstByteMsMax: Math.max(Math.min(msMax, this.#msLeft), 1),
      retries: hasNext ? again : Math.min(send.retries, again),
    };
  }

  /** The plan of the next target, which has the hold then; undefined if there is none. */
  #moveOn({ order }: CallPlan, failures: readonly FailedAttempt[]): Promise<CallPlan | undefined> {
    return moveOn(this.#targets, {
      operation: order.operation,
      failures,
      mayAsk: () => this.#attemptsLeft > 0 && this.#msLeft > 0,
      planFor: (target) => this.#running.plan(target),
      moveTo: (plan) => this.#moveTo(plan),
    });
  }

  async #moveTo({ order, exchange }: CallPlan): Promise<boolean> {
    if ((await this.#running.work.moveTo(order)) !== "moved") return false;
    this.#checkOpen();
    this.#running.watchdog.limitTotal(exchange.streamed ? Number.POSITIVE_INFINITY : this.#deps.send.totalMsMax);
    return true;
  }

  /** The reply of a call whose targets have all failed, `asked` last. A refusal is an answer, at the price of its target. */
  async #lastWord(asked: CallPlan): Promise<RoutedReply | undefined> {
    const refused = this.#refused;
    if (refused === undefined) return this.#errors.most;
    const isHeld = refused.plan === asked || (await this.#running.work.moveTo(refused.plan.order)) === "moved";
    return isHeld ? refused : this.#errors.most;
  }
}

const refusal = lostAnswer("content_policy");

/** Whether the body of the reply is passed on as it arrives. */
function isRelayed({ exchange }: CallPlan, { headers }: StreamReply): boolean {
  const isEvents = headers.get("content-type")?.startsWith(EVENT_STREAM) === true;
  return isEvents ? exchange.observe !== undefined && exchange.streamed : exchange.observeBytes !== undefined;
}
