/** The hold of a piece of work on its way to the ledger: its amount, and the refusal if it cannot be made. */
import { type WorkBound, formatCredits, GatewayError, limits, type Nano } from "../core/index.ts";
import type { Hold, StoredAnswer, OutcomeOf, QueuedOperation } from "../ledger/index.ts";
import { boundFor } from "../pricing/index.ts";
import { capAt, Charge, type WorkDependencies } from "./charge.ts";
import { endHold } from "./end-hold.ts";
import { expectedTokens, usageBound } from "./estimate.ts";
import { rateExceeded, rateHeaders } from "./rate-headers.ts";
import { retryRefused } from "./retry-refused.ts";
import { holdOf, type WorkOrder } from "./work-order.ts";
import { Work } from "./work.ts";

/** The stored answer to a repeated retry key. */
export interface Replay {
  firstId: string;
  answer: StoredAnswer;
}

/**
 * Begins a piece of work. Its hold, the token's limits and its retry key are committed together, durably, before the
 * promise resolves. Rejects with 402 if the credits are insufficient, 429 if a limit of the token is reached, and 409
 * for a retry key that cannot be answered. Resolves to the stored answer if the retry key has one.
 */
export function openWork(deps: WorkDependencies, order: WorkOrder): Promise<Work | Replay> {
  const opening = new Opening(deps, order);
  deps.ledger.enqueue(opening);
  return opening.opened;
}

/** Work begins with one hold. */
const NONE: readonly string[] = [];

class Opening implements QueuedOperation<Hold> {
  readonly operation: Hold;
  readonly #deps: WorkDependencies;
  readonly #order: WorkOrder;
  readonly #opened = Promise.withResolvers<Work | Replay>();

  constructor(deps: WorkDependencies, order: WorkOrder) {
    this.operation = firstHold(order, capAt(limits.callNanoMax, holdAmount(deps, order)), deps.clock());
    this.#deps = deps;
    this.#order = order;
  }

  get opened(): Promise<Work | Replay> {
    return this.#opened.promise;
  }

  resolve(result: OutcomeOf<Hold>): void {
    try {
      this.#opened.resolve(this.#begin(result));
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

  #refuse(reason: unknown): void {
    if (reason instanceof GatewayError) this.#deps.observer.refused?.(this.#order, reason);
    this.#opened.reject(reason);
  }

  #begin(result: OutcomeOf<Hold>): Work | Replay {
    const deps = this.#deps;
    const order = this.#order;
    const hold = this.operation;
    const { rates } = order.principal;
    switch (result.outcome) {
      case "held": {
        const { amount, at } = hold;
        const headers = rates && result.rates && rateHeaders(rates, result.rates, at);
        return new Work(
          deps,
          order,
          new Charge(deps, order, { reserves: NONE, amount }, { keeper: "process", rates: headers }),
        );
      }
      case "replayed":
        return { firstId: result.id, answer: result.answer };
      case "insufficient":
        throw insufficient(holdAmount(deps, order), result.available, isLowered(order.bound));
      case "limited":
        throw rateExceeded(
          result.limit,
          { limits: rates ?? {}, seen: result.rates, tokens: hold.tokens ?? 0 },
          hold.at,
        );
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

/** The most that the work can cost. */
function holdAmount({ markupMillionths }: WorkDependencies, { price, bound }: WorkOrder): Nano {
  return boundFor(price, usageBound(price, bound), markupMillionths, bound.outputImages?.variant);
}

/** The first hold, committed together with the limits and the retry key. */
function firstHold(order: WorkOrder, amount: Nano, at: number): Hold {
  const { id, principal, price, bound, retry } = order;
  const { rates } = principal;
  const hold = holdOf(order, { id, amount, at });
  if (rates !== undefined) {
    hold.rates = rates;
    hold.tokens = expectedTokens(price, bound);
  }
  if (retry !== undefined) hold.retry = retry;
  return hold;
}

/** Whether the work would need a smaller hold if its body limited the output. */
function isLowered(bound: WorkBound): boolean {
  return bound.outputTokens === undefined && bound.outputImages === undefined && bound.inputUnits === undefined;
}

function insufficient(needed: Nano, available: Nano, lowered: boolean): GatewayError {
  const left = available > 0n ? available : 0n;
  const advice = lowered ? " Set max_tokens to need less." : "";
  return new GatewayError(
    "insufficient_credits",
    `Not enough credits: this call needs up to ${formatCredits(needed)}, ${formatCredits(left)} are left.${advice}`,
  );
}
