/** The hold of a call, on its way to the ledger: what is set aside, and what is told where it can't be. */
import { formatCredits, GatewayError, limits, type Nano } from "../core/index.ts";
import type { CallBound } from "../dialects/index.ts";
import type { Hold, KeptAnswer, OutcomeOf, Waiting } from "../ledger/index.ts";
import { boundFor } from "../pricing/index.ts";
import { atMost, Charge, type ChargeDependencies, type ChargeRequest } from "./charge.ts";
import { endHold } from "./end-hold.ts";
import { likelyTokens, usageBound } from "./estimate.ts";
import { rateExceeded } from "./rate-headers.ts";
import { retryRefused } from "./retry-key.ts";

/** A call that came before, with its answer. */
export interface Replay {
  firstId: string;
  answer: KeptAnswer;
}

/**
 * Sets the most that a call can cost aside, durably. Rejects with 402 where there is not enough, 429 where a limit of the
 * token is reached, and 409 for a retry key that can't be answered; one that can gives the first call's answer.
 */
export function openCharge(deps: ChargeDependencies, request: ChargeRequest): Promise<Charge | Replay> {
  const opening = new Opening(deps, request);
  deps.ledger.enqueue(opening);
  return opening.opened;
}

class Opening implements Waiting<Hold> {
  readonly operation: Hold;
  readonly #deps: ChargeDependencies;
  readonly #request: ChargeRequest;
  readonly #opened = Promise.withResolvers<Charge | Replay>();

  constructor(deps: ChargeDependencies, request: ChargeRequest) {
    this.operation = holdFor(request, atMost(limits.callNanoMax, neededFor(deps, request)), deps.clock());
    this.#deps = deps;
    this.#request = request;
  }

  get opened(): Promise<Charge | Replay> {
    return this.#opened.promise;
  }

  resolve(result: OutcomeOf<Hold>): void {
    try {
      this.#opened.resolve(this.#judge(result));
    } catch (thrown) {
      this.#opened.reject(thrown);
    }
  }

  reject(reason: unknown): void {
    const { id, at } = this.operation;
    // A hold whose answer was lost may have been made all the same: it is given back as soon as the store can be reached.
    const isUnknown = reason instanceof GatewayError && reason.cause !== undefined;
    if (isUnknown) void endHold(this.#deps, { kind: "release", id, at }, "no-hold");
    this.#opened.reject(reason);
  }

  #judge(result: OutcomeOf<Hold>): Charge | Replay {
    const deps = this.#deps;
    const request = this.#request;
    const hold = this.operation;
    switch (result.outcome) {
      case "held":
        return new Charge(deps, request, hold, result.rates);
      case "replayed":
        return { firstId: result.id, answer: result.answer };
      case "insufficient":
        throw insufficient(neededFor(deps, request), result.available, isLowered(request.bound));
      case "limited":
        throw rateExceeded(result.limit, request.rates ?? {}, result.rates, hold.tokens ?? 0, hold.at);
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

function neededFor({ markupMillionths }: ChargeDependencies, { price, bound }: ChargeRequest): Nano {
  return boundFor(price, usageBound(price, bound), markupMillionths, bound.imagesOut?.variant);
}

function holdFor(
  { id, accountId, purpose, price, bound, rates, retry }: ChargeRequest,
  amount: Nano,
  at: number,
): Hold {
  const hold: Hold = { kind: "hold", id, accountId, amount, purpose, at, leaseUntil: at + limits.holdLeaseMs };
  if (rates !== undefined) {
    hold.rates = rates;
    hold.tokens = likelyTokens(price, bound);
  }
  if (retry !== undefined) hold.retry = retry;
  return hold;
}

/** Whether a limit of the output, which the body has none of, would make the call need less. */
function isLowered(bound: CallBound): boolean {
  return bound.outputTokens === undefined && bound.imagesOut === undefined && bound.unitsIn === undefined;
}

function insufficient(needed: Nano, available: Nano, lowered: boolean): GatewayError {
  const left = available > 0n ? available : 0n;
  const advice = lowered ? " Set max_tokens to need less." : "";
  return new GatewayError(
    "insufficient_credits",
    `Not enough credits: this call needs up to ${formatCredits(needed)}, ${formatCredits(left)} are left.${advice}`,
  );
}
