import { formatCredits, GatewayError, limits, type Nano } from "../core/index.ts";
import { beyondMax } from "./max-credits.ts";
import type { OutputHold } from "./output-hold.ts";
import { capAt, WorkCost } from "./work-cost.ts";
import { withRuns, type WorkOrder } from "./work-order.ts";

/** How often a hold is tried with less, because others have taken the credits meanwhile. */
const LOWERED_TIMES_MAX = 8;

/** The limits that a request gets, because its hold covers no more; undefined if its own remain. */
export interface SentLimits {
  /** Of the output, in tokens, per choice. */
  outputTokens: number | undefined;
  /** Of the runs of hosted tools. */
  toolRuns: number | undefined;
}

/**
 * The amount of a hold that is being made: with less output, then fewer runs of hosted tools, if the credits do not
 * suffice for what is wanted.
 */
export class HeldOutput {
  /** Without the hosted tools that the request does not limit. */
  readonly #asked: WorkOrder;
  #order: WorkOrder;
  #cost: WorkCost;
  /** The held output tokens per choice; undefined if the bound tells them. */
  #tokens: number | undefined;
  /** The held runs of hosted tools that the request does not limit; undefined if there are none. */
  #runs: number | undefined;
  #lowered = 0;
  /** Whether the least that the work can be done for is within the caller's own limit. */
  readonly isWithinMax: boolean;

  constructor(asked: WorkOrder) {
    this.#asked = asked;
    this.#runs = asked.bound.toolRuns?.most;
    this.#order = this.#runs === undefined ? asked : withRuns(asked, this.#runs);
    this.#cost = new WorkCost(this.#order);
    this.#tokens = asked.output?.wanted;
    this.isWithinMax = asked.chargeMax === undefined || this.#lowerTo(asked.chargeMax);
  }

  /** With as many runs of hosted tools as are held. */
  get order(): WorkOrder {
    return this.#order;
  }

  get cost(): WorkCost {
    return this.#cost;
  }

  get amount(): Nano {
    return capAt(limits.callNanoMax, this.#cost.ofBound(this.#tokens));
  }

  #lowerTo(most: Nano): boolean {
    while (this.amount > most) if (!this.lower(most)) return false;
    this.#lowered = 0;
    return true;
  }

  /** Lowers the held output, then the runs, to what is available. Returns whether that is still enough to begin. */
  lower(available: Nano): boolean {
    const { output } = this.#order;
    if (output === undefined || this.#tokens === undefined) return false;
    this.#lowered += 1;
    const isLast = this.#lowered >= LOWERED_TIMES_MAX;
    let most = this.#tokens - 1;
    for (;;) {
      const affordable = isLast ? output.least : this.#cost.tokensFor(available);
      if (affordable >= output.least && most >= output.least) {
        this.#tokens = Math.min(affordable, most);
        return true;
      }
      if (!this.#lowerRuns(isLast)) return false;
      most = output.wanted;
    }
  }

  /** Returns whether there was more than one. */
  #lowerRuns(toOne: boolean): boolean {
    if (this.#runs === undefined || this.#runs <= 1) return false;
    this.#runs = toOne ? 1 : this.#runs - 1;
    this.#order = withRuns(this.#asked, this.#runs);
    this.#cost = new WorkCost(this.#order);
    return true;
  }

  /** The refusal, where even the least output costs more than is available, or than the caller allows. */
  refusal(available: Nano): GatewayError {
    const { output, bound, chargeMax = 0n } = this.#order;
    const needed = this.#cost.ofBound(output?.least);
    const left = available > 0n ? available : 0n;
    const isForOutput = output !== undefined && needed > this.#cost.ofBound(0);
    const tokens = isForOutput ? output.least * bound.choices : 0;
    const least = isForOutput ? ` for its input and ${tokens} tokens of output` : "";
    const needs = `this call needs ${output === undefined ? "up to " : ""}${formatCredits(needed)}${least}`;
    if (!this.isWithinMax) return beyondMax(needs, chargeMax);
    return new GatewayError("insufficient_credits", `Not enough credits: ${needs}, ${formatCredits(left)} are left.`);
  }

  /** The tokens of all choices together that are held, and the limits that the request gets. */
  get held(): { outputTokens: number | undefined; limits: SentLimits } {
    const { output, bound } = this.#order;
    const tokens = this.#tokens;
    const isText = output !== undefined && tokens !== undefined;
    return {
      outputTokens: isText ? tokens * bound.choices : undefined,
      limits: { outputTokens: isText ? this.#limitFor(output, tokens) : undefined, toolRuns: this.#runs },
    };
  }

  /** The limit that a request must get, so that it costs no more than is held, or than its caller allows. */
  #limitFor({ limits: when, wanted, most }: OutputHold, tokens: number): number | undefined {
    if (when !== "never") return when === "always" || tokens < wanted ? tokens : undefined;
    const { chargeMax } = this.#order;
    const payable = chargeMax === undefined ? Number.POSITIVE_INFINITY : this.#cost.tokensFor(chargeMax);
    return payable < (most ?? Number.MAX_SAFE_INTEGER) ? payable : undefined;
  }
}
