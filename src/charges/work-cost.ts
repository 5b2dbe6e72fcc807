import {
  appliedTerms,
  bytesOfTokens,
  formatCredits,
  limits,
  type Nano,
  NO_MARKUP,
  type ObservedUsage,
  type PriceTerms,
  type Usage,
} from "../core/index.ts";
import { boundFor, chargeFor, type ModelPrice, priceAt, withMarkup } from "../pricing/index.ts";
import { likelyUsage, usageBound } from "./estimate.ts";
import { withOwnMarkup, type WorkOrder } from "./work-order.ts";

/** Tokens whose cost is calculated to know that of one: the more, the less it is rounded up. Within all windows. */
const RATE_TOKENS = 1_000;

/** Almost no work has others, helpers or alternatives. */
const none: readonly never[] = [];

/** The cost of usage that is not charged, in credits; undefined if it has no price, such as that of an unknown variant. */
export function creditsOf(
  work: { costOf(observed: ObservedUsage): Nano },
  unbilled: ObservedUsage,
): string | undefined {
  try {
    return formatCredits(work.costOf(unbilled));
  } catch {
    return undefined;
  }
}

/** The prices of one piece of work, applied to its usage and its bound. All amounts are in nano-credits. */
export class WorkCost {
  readonly #order: Pick<WorkOrder, "price" | "priceOf" | "bound">;
  /** The most that is ever charged, by the caller's own limit or the gateway's. */
  readonly chargeMax: Nano;
  /** At the requested terms. */
  readonly #price: ModelPrice;
  #costOfText: Nano | undefined;
  /** The usage that was priced last, and its cost. */
  #priced: ObservedUsage | undefined;
  #cost = 0n;

  constructor(order: Pick<WorkOrder, "price" | "priceOf" | "bound" | "chargeMax">) {
    const { price, bound, chargeMax } = order;
    this.#order = order;
    this.chargeMax = capAt(limits.callNanoMax, chargeMax ?? limits.callNanoMax);
    this.#price = bound.terms === undefined ? price : priceAt(price, bound.terms);
  }

  /** The charge for the usage. Throws for usage without a price. */
  of(observed: ObservedUsage): Nano {
    return capAt(this.chargeMax, this.fullOf(observed));
  }

  /** Whether its caller lets the work cost more than this. */
  mayExceed(amount: Nano): boolean {
    return amount < this.chargeMax || this.chargeMax >= limits.callNanoMax;
  }

  /** The cost of the usage, also beyond its caller's own limit. Throws for usage without a price. */
  fullOf(observed: ObservedUsage): Nano {
    // The same answer is priced for its header, for its charge and for the log.
    if (observed !== this.#priced) {
      const { priceOf, bound } = this.#order;
      const terms = appliedTerms(bound.terms, observed.terms);
      const priced = terms === observed.terms || terms === undefined ? observed : { ...observed, terms };
      this.#cost = capAt(limits.callNanoMax, chargeFor(this.#priceOf(observed), priced, priceOf));
      this.#priced = observed;
    }
    return this.#cost;
  }

  /** The price of the model that has answered. One that the gateway does not know costs as much as the requested one. */
  #priceOf({ answeredBy }: ObservedUsage): ModelPrice {
    const { price, priceOf, bound } = this.#order;
    const isOpen = answeredBy !== undefined && bound.alternatives !== undefined;
    return (isOpen ? priceOf?.(answeredBy) : undefined) ?? price;
  }

  /** The list price of the usage. */
  listOf(observed: ObservedUsage): Nano {
    const { price, priceOf, bound } = this.#order;
    const isOwn = observed.others === undefined && observed.answeredBy === undefined;
    if (price.markup === NO_MARKUP && isOwn) return this.of(observed);
    const listed = (model: string): ModelPrice | undefined => withMarkup(priceOf?.(model), NO_MARKUP);
    return new WorkCost({ price: withMarkup(price, NO_MARKUP), priceOf: listed, bound }).of(observed);
  }

  /** The most that this usage can cost. */
  boundOf(usage: Usage): Nano {
    return capAt(limits.callNanoMax, boundFor(this.#price, usage));
  }

  /** The most that the work can cost with this number of output tokens per choice, by default those of its bound. */
  ofBound(outputTokens: number | undefined): Nano {
    const { bound, priceOf } = this.#order;
    const { outputImages, outputVideo, others = none, helpers = none, alternatives } = bound;
    const own = usageBound(this.#price, bound, outputTokens);
    let most = boundFor(this.#price, own, (outputImages ?? outputVideo)?.variant);
    for (const { model, terms = bound.terms, outputTokens: limit = 0 } of alternatives?.models ?? none) {
      const tokens = limit > 0 ? Math.max(limit, outputTokens ?? 0) : outputTokens;
      most = atLeast(
        most,
        this.#boundAt(priceOf?.(model), terms, (price) => usageBound(price, bound, tokens)),
      );
    }
    for (const { model, usage } of others) most += this.#boundAt(priceOf?.(model), undefined, () => usage);
    for (const { model, runs, outputTokens: written } of helpers) {
      const { toolUnits: _, fixedUnits: __, ...read } = bound;
      most += this.#boundAt(priceOf?.(model), undefined, (price) => usageBound(price, read, written)) * BigInt(runs);
    }
    return most;
  }

  #boundAt(price: ModelPrice | undefined, terms: PriceTerms | undefined, usageAt: (price: ModelPrice) => Usage): Nano {
    if (price === undefined) return 0n;
    const at = terms === undefined ? price : priceAt(price, terms);
    return boundFor(at, usageAt(at));
  }

  /** The output tokens per choice that this amount suffices for; below zero if it does not even suffice for the input. */
  tokensFor(amount: Nano): number {
    const input = this.ofBound(0);
    if (input > amount) return -1;
    const many = this.ofBound(RATE_TOKENS) - input;
    if (many <= 0n) return Number.MAX_SAFE_INTEGER;
    return Number(((amount - input) * BigInt(RATE_TOKENS)) / many);
  }

  /** Whether more text costs more: it does not where calls or other units are priced. */
  get isOfText(): boolean {
    return this.#textCost !== 0n;
  }

  /** The bytes of generated text that this amount suffices for; at least one. */
  bytesFor(amount: Nano): number {
    return Math.max(bytesOfTokens(Number((amount * BigInt(RATE_TOKENS)) / this.#textCost)), 1);
  }

  /** The cost of `RATE_TOKENS` tokens of output. */
  get #textCost(): Nano {
    // With its input, on which the tier of the price depends.
    const input = { input: this.#order.bound.inputTokens };
    const cost = (usage: Usage): Nano => boundFor(this.#price, usage);
    return (this.#costOfText ??= cost({ ...input, output: RATE_TOKENS }) - cost(input));
  }
}

/** The expected cost of a call of which so many tokens of input are in the model's cache. */
export function expectedCost(planned: WorkOrder, cached: number): Nano {
  const order = withOwnMarkup(planned);
  const usage = likelyUsage(order, cached);
  const cost = new WorkCost(order);
  return usage === undefined ? cost.ofBound(undefined) : cost.fullOf({ usage });
}

export function atLeast(least: Nano, amount: Nano): Nano {
  return amount > least ? amount : least;
}

export function capAt(most: Nano, amount: Nano): Nano {
  return amount < most ? amount : most;
}
