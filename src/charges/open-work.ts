/** The hold of a piece of work on its way to the ledger: its amount, and the refusal if it cannot be made. */
import { GatewayError } from "../core/index.ts";
import type { Hold, StoredAnswer, OutcomeOf, QueuedOperation } from "../ledger/index.ts";
import type { WorkDependencies } from "./dependencies.ts";
import { endHold } from "./end-hold.ts";
import { expectedTokens } from "./estimate.ts";
import { HeldOutput } from "./held-output.ts";
import { rateExceeded, rateHeaders } from "./rate-headers.ts";
import { retryRefused } from "./retry/retry-key.ts";
import { asPart, holdOf, isRateLimited, withOwnMarkup, type WorkOrder } from "./work-order.ts";
import { Work } from "./work.ts";

/** The stored answer to a repeated retry key. */
export interface Replay {
  firstId: string;
  answer: StoredAnswer;
}

/**
 * Begins a piece of work. Its hold, the token's limits and its retry key are committed together, durably, before the
 * promise resolves. Rejects with 402 if the credits, or those that the caller allows, are insufficient, 429 if a limit of the token is reached, and 409
 * for a retry key that cannot be answered. Resolves to the stored answer if the retry key has one.
 */
export function openWork(deps: WorkDependencies, order: WorkOrder): Promise<Work | Replay> {
  const opening = new Opening(deps, asPart(withOwnMarkup(order)));
  if (opening.output.isWithinMax) deps.ledger.enqueue(opening);
  else opening.refuseCost();
  return opening.opened.promise;
}

/** Begins work without a retry key, such as one of a series. Rejects with the refusal. */
export async function openUnkeyed(deps: WorkDependencies, order: Omit<WorkOrder, "retry">): Promise<Work> {
  const work = await openWork(deps, order);
  if (work instanceof Work) return work;
  throw new Error(`the work ${order.id} has no retry key, and was replayed`);
}

/** Work begins with one hold. */
const NONE: readonly string[] = [];

class Opening implements QueuedOperation<Hold> {
  operation: Hold;
  readonly #deps: WorkDependencies;
  readonly opened = Promise.withResolvers<Work | Replay>();
  readonly output: HeldOutput;

  constructor(deps: WorkDependencies, order: WorkOrder) {
    this.#deps = deps;
    this.output = new HeldOutput(order);
    this.operation = this.#hold();
  }

  /** Refuses work that costs more than its caller allows. */
  refuseCost(): void {
    this.#refuse(this.output.refusal(0n));
  }

  resolve(result: OutcomeOf<Hold>): void {
    try {
      if (result.outcome === "insufficient" && this.output.lower(result.available)) {
        this.operation = this.#hold();
        this.#deps.ledger.enqueue(this);
      } else this.opened.resolve(this.#begin(result));
    } catch (thrown) {
      this.#refuse(thrown);
    }
  }

  reject(reason: unknown): void {
    const { id, at } = this.operation;
    // A hold whose answer was lost may have been committed. It is released as soon as the store is available.
    const isUnknown = reason instanceof GatewayError && reason.cause !== undefined;
    if (isUnknown) void endHold(this.#deps, { kind: "release", id, at }, "no-hold");
    this.#refuse(reason);
  }

  /** The first hold, committed together with the limits and the retry key. */
  #hold(): Hold {
    const { order, amount } = this.output;
    const { id, principal, price, bound, retry } = order;
    const hold = holdOf(order, { id, amount, at: this.#deps.clock() });
    if (isRateLimited(principal)) {
      const { rates, ratesAbove } = principal;
      if (rates !== undefined) hold.rates = rates;
      if (ratesAbove !== undefined) hold.ratesAbove = ratesAbove;
      hold.tokens = expectedTokens(price, bound);
    }
    if (retry !== undefined) hold.retry = retry;
    return hold;
  }

  #refuse(reason: unknown): void {
    if (reason instanceof GatewayError) this.#deps.observer.refused?.(this.output.order, reason);
    this.opened.reject(reason);
  }

  #begin(result: OutcomeOf<Hold>): Work | Replay {
    const { order, cost } = this.output;
    const hold = this.operation;
    const own = order.principal;
    switch (result.outcome) {
      case "held": {
        const { amount, at } = hold;
        const headers = isRateLimited(own) ? rateHeaders(own, result, at) : undefined;
        const { outputTokens, limits } = this.output.held;
        const start = {
          reserves: NONE,
          amount,
          keeper: "process",
          rateHeaders: headers,
          outputTokens,
          limits,
        } as const;
        return new Work(this.#deps, order, cost, start);
      }
      case "replayed":
        return { firstId: result.id, answer: result.answer };
      case "insufficient":
        throw this.output.refusal(result.available);
      case "limited":
        throw rateExceeded(result, { own, tokens: hold.tokens ?? 0, now: hold.at });
      case "retry-running":
      case "retry-mismatch":
        throw retryRefused(result.outcome);
      case "exists":
      case "conflict":
      case "no-account":
        throw new Error(`hold ${hold.id}: ${result.outcome}`);
    }
  }
}
