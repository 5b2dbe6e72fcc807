import { appliedTerms, bytesOfTokens, limits, type Nano, type ObservedUsage, type Usage } from "../core/index.ts";
import { boundFor, chargeFor, type ModelPrice, priceAt } from "../pricing/index.ts";
import type { WorkOrder } from "./work-order.ts";

/** Tokens of text whose cost is calculated to know that of one. */
const TEXT_TOKENS = 1_000;

/** The prices of one piece of work, applied to its usage. All amounts are in nano-credits. */
export class WorkCost {
  readonly #order: WorkOrder;
  #costOfText: Nano | undefined;
  /** The usage that was priced last, and its cost. */
  #priced: ObservedUsage | undefined;
  #cost = 0n;

  constructor(order: WorkOrder) {
    this.#order = order;
  }

  /** The cost of the usage. Throws for usage without a price. */
  of(observed: ObservedUsage): Nano {
    // The same answer is priced for its header, for its charge and for the log.
    if (observed !== this.#priced) {
      const { price, priceOf, bound } = this.#order;
      const terms = appliedTerms(bound.terms, observed.terms);
      const priced = terms === observed.terms || terms === undefined ? observed : { ...observed, terms };
      this.#cost = capAt(limits.callNanoMax, chargeFor(price, priced, priceOf));
      this.#priced = observed;
    }
    return this.#cost;
  }

  /** The most that this usage can cost. */
  boundOf(usage: Usage): Nano {
    return capAt(limits.callNanoMax, boundFor(this.#price, usage));
  }

  /** Whether more text costs more: it does not where calls or other units are priced. */
  get isOfText(): boolean {
    return this.#textCost !== 0n;
  }

  /** The bytes of generated text that this amount suffices for; at least one. */
  bytesFor(amount: Nano): number {
    return Math.max(bytesOfTokens(Number((amount * BigInt(TEXT_TOKENS)) / this.#textCost)), 1);
  }

  /** The cost of `TEXT_TOKENS` tokens of output. */
  get #textCost(): Nano {
    // With its input, on which the tier of the price depends.
    const input = { input: this.#order.bound.inputTokens };
    const cost = (usage: Usage): Nano => boundFor(this.#price, usage);
    return (this.#costOfText ??= cost({ ...input, output: TEXT_TOKENS }) - cost(input));
  }

  get #price(): ModelPrice {
    const { price, bound } = this.#order;
    return bound.terms === undefined ? price : priceAt(price, bound.terms);
  }
}

export function atLeast(least: Nano, amount: Nano): Nano {
  return amount > least ? amount : least;
}

export function capAt(most: Nano, amount: Nano): Nano {
  return amount < most ? amount : most;
}
