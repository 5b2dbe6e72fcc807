import { formatCredits, GatewayError, limits, type Nano } from "../core/index.ts";
import type { OutputHold } from "./output-hold.ts";
import { capAt, type WorkCost } from "./work-cost.ts";
import type { WorkOrder } from "./work-order.ts";

/** How often a hold is tried with fewer tokens, because others have taken the credits meanwhile. */
const LOWERED_TIMES_MAX = 8;

/** The amount of a hold that is being made: with less output, if the credits do not suffice for what is wanted. */
export class HeldOutput {
  readonly #order: Pick<WorkOrder, "output" | "bound">;
  readonly #cost: WorkCost;
  /** The held output tokens per choice; undefined if the bound tells them. */
  #tokens: number | undefined;
  #lowered = 0;

  constructor(order: Pick<WorkOrder, "output" | "bound">, cost: WorkCost) {
    this.#order = order;
    this.#cost = cost;
    this.#tokens = order.output?.wanted;
  }

  get amount(): Nano {
    return capAt(limits.callNanoMax, this.#cost.ofBound(this.#tokens));
  }

  /** Lowers the held output to what is available. Returns whether that is still enough to begin. */
  lower(available: Nano): boolean {
    const { output } = this.#order;
    const tokens = this.#tokens;
    if (output === undefined || tokens === undefined || tokens <= output.least) return false;
    this.#lowered += 1;
    const affordable = this.#lowered < LOWERED_TIMES_MAX ? this.#cost.tokensFor(available) : output.least;
    if (affordable < output.least) return false;
    this.#tokens = Math.min(affordable, tokens - 1);
    return true;
  }

  /** The refusal, where even the least output costs more than is available. */
  refusal(available: Nano): GatewayError {
    const { output, bound } = this.#order;
    const needed = this.#cost.ofBound(output?.least);
    const left = available > 0n ? available : 0n;
    const isForOutput = output !== undefined && needed > this.#cost.ofBound(0);
    const tokens = isForOutput ? output.least * bound.choices : 0;
    const least = isForOutput ? ` for its input and ${tokens} tokens of output` : "";
    return new GatewayError(
      "insufficient_credits",
      `Not enough credits: this call needs ${output === undefined ? "up to " : ""}${formatCredits(needed)}${least}, ${formatCredits(left)} are left.`,
    );
  }

  /** The tokens of all choices together that are held, and the limit per choice that the request gets. */
  get held(): { outputTokens: number; outputLimit: number | undefined } | undefined {
    const { output, bound } = this.#order;
    const tokens = this.#tokens;
    if (output === undefined || tokens === undefined) return undefined;
    return { outputTokens: tokens * bound.choices, outputLimit: limitFor(output, tokens) };
  }
}

/** The limit that a request must get, so that it costs no more than is held. */
function limitFor({ limits: when, wanted }: OutputHold, tokens: number): number | undefined {
  if (when === "never") return undefined;
  return when === "always" || tokens < wanted ? tokens : undefined;
}
