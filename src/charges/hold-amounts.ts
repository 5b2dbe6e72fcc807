import type { Nano, WorkBound } from "../core/index.ts";
import { boundFor, type ModelPrice, priceAt } from "../pricing/index.ts";
import { usageBound } from "./estimate.ts";
import type { WorkOrder } from "./work-order.ts";

/** Tokens whose cost is calculated to know that of one: the more, the less it is rounded up. Within all windows. */
const RATE_TOKENS = 1_000;

/** The amounts that a piece of work needs, depending on its output. */
export class HoldAmounts {
  readonly #price: ModelPrice;
  readonly #bound: WorkBound;
  /** The most that other models can cost. */
  readonly #ofOthers: Nano;

  constructor({ price, priceOf, bound }: Pick<WorkOrder, "price" | "priceOf" | "bound">) {
    const { terms } = bound;
    this.#price = terms === undefined ? price : priceAt(price, terms);
    this.#bound = bound;
    this.#ofOthers = (bound.others ?? []).reduce((sum, { model, usage }) => {
      const other = priceOf?.(model);
      return other === undefined ? sum : sum + boundFor(other, usage);
    }, 0n);
  }

  /** The most that the work can cost with this number of output tokens per choice, by default those of its bound. */
  of(outputTokens: number | undefined): Nano {
    const usage = usageBound(this.#price, this.#bound, outputTokens);
    const { outputImages, outputVideo } = this.#bound;
    return boundFor(this.#price, usage, (outputImages ?? outputVideo)?.variant) + this.#ofOthers;
  }

  /** The output tokens per choice that this amount suffices for; below zero if it does not even suffice for the input. */
  tokensFor(amount: Nano): number {
    const input = this.of(0);
    if (input > amount) return -1;
    const many = this.of(RATE_TOKENS) - input;
    if (many <= 0n) return Number.MAX_SAFE_INTEGER;
    return Number(((amount - input) * BigInt(RATE_TOKENS)) / many);
  }
}
