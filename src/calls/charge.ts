/**
 * The money of one call, from hold to end.
 *
 *   held ──settle──▶ ended (charged)
 *     └───release──▶ ended (nothing charged)
 *
 * Whoever ends it first wins; later attempts change nothing. While it is open its lease is renewed, with what has been
 * observed so far, so that a call may take as long as it likes and a killed process still leaves a fair charge. The end
 * is tried again until the store has taken it.
 */
import {
  formatCredits,
  GatewayError,
  inputTokens,
  limits,
  type Nano,
  type ObservedUsage,
  outputTokens,
} from "../core/index.ts";
import type {
  CallRecord,
  Hold,
  KeptAnswer,
  Ledger,
  RateLimits,
  RateState,
  Release,
  RetryKey,
  Settle,
} from "../ledger/index.ts";
import { likelyTokens, usageBound } from "./estimate.ts";
import { rateExceeded, rateHeaders } from "./rate-headers.ts";
import { retryRefused } from "./retry-key.ts";
import { boundFor, chargeFor, type ModelPrice } from "../pricing/index.ts";
import type { CallBound } from "../dialects/index.ts";
import type { Ticker, Watched } from "../streaming/index.ts";

/** How often a running call's cost is compared with its hold. */
const TOP_UP_CHECK_MS = 1_000;

export interface ChargeDependencies {
  ledger: Ledger;
  clock: () => number;
  /** Ticks often enough to renew a lease in time. */
  ticker: Ticker;
  markupMillionths: bigint;
  onUnsettled: (id: string, reason: unknown) => void;
  /** Calls whose end the store has not taken yet, though it was asked to. */
  unsettled: Map<string, Settle | Release>;
}

export interface ChargeRequest {
  id: string;
  accountId: string;
  purpose: string;
  price: ModelPrice;
  bound: CallBound;
  /** Undefined where nothing limits how often the token calls. */
  rates: Readonly<RateLimits> | undefined;
  retry: RetryKey | undefined;
}

/** What is written of a call with its end. */
export interface Ending {
  record: CallRecord;
  /** Kept for the call's retry key. */
  answer?: KeptAnswer | undefined;
}

/** A call that came before, with its answer. */
export interface Replay {
  firstId: string;
  answer: KeptAnswer;
}

const nothing = (): undefined => undefined;

export class Charge implements Watched {
  slot = -1;
  /** What the token's minute has left, for the answer; undefined where nothing limits it. */
  readonly rateHeaders: Readonly<Record<string, string>> | undefined;
  readonly #deps: ChargeDependencies;
  readonly #request: ChargeRequest;
  #amount: Nano;
  #observe: () => ObservedUsage | undefined = nothing;
  #giveUp: (error: GatewayError) => void = nothing;
  #renewedAt: number;
  #comparedAt: number;
  #toppingUp = false;
  /** A hold in place of the first one, where that has expired; what it was charged at is made good at the end. */
  #reserve: string | undefined;
  #ended = false;
  /** What was priced last. */
  #priced: { observed: ObservedUsage; cost: Nano } | undefined;

  /**
   * Sets the most that the call can cost aside, durably. Throws 402 where there is not enough, 429 where a limit of the
   * token is reached, and 409 for a retry key that can't be answered; one that can gives the first call's answer.
   */
  static async open(deps: ChargeDependencies, request: ChargeRequest): Promise<Charge | Replay> {
    const { price, bound } = request;
    const needed = boundFor(price, usageBound(price, bound), deps.markupMillionths, bound.imagesOut?.variant);
    const hold = holdFor(request, atMost(limits.callNanoMax, needed), deps.clock());
    const result = await deps.ledger.submit(hold).catch((reason: unknown) => takeBack(deps, hold, reason));
    switch (result.outcome) {
      case "held":
        return new Charge(deps, request, hold, result);
      case "replayed":
        return { firstId: result.id, answer: result.answer };
      case "insufficient":
        throw insufficient(needed, result.available, isLowered(bound));
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

  private constructor(
    deps: ChargeDependencies,
    request: ChargeRequest,
    { amount, at }: Hold,
    { rates }: { rates?: RateState },
  ) {
    this.#deps = deps;
    this.#request = request;
    this.#amount = amount;
    this.#renewedAt = deps.ticker.now();
    this.#comparedAt = this.#renewedAt;
    const limited = request.rates;
    this.rateHeaders = limited === undefined || rates === undefined ? undefined : rateHeaders(limited, rates, at);
    deps.ticker.watch(this);
  }

  /** Says how to learn what the running call has used so far, and how to end it when nothing is left to pay for it. */
  observeWith(observe: () => ObservedUsage | undefined, giveUp: (error: GatewayError) => void): void {
    this.#observe = observe;
    this.#giveUp = giveUp;
  }

  /** What the usage costs. */
  costOf(observed: ObservedUsage): Nano {
    // The same answer is asked about for its header, for its charge and for the log.
    if (observed !== this.#priced?.observed) {
      const cost = atMost(limits.callNanoMax, chargeFor(this.#request.price, observed, this.#deps.markupMillionths));
      this.#priced = { observed, cost };
    }
    return this.#priced.cost;
  }

  /**
   * Charges for what was used. An answer is complete for its client only once that is durable: a process that dies before
   * then has neither answered nor charged. Never rejects.
   */
  settle(observed: ObservedUsage, { record, answer }: Ending): Promise<void> {
    const { id, rates } = this.#request;
    const settle: Settle = { kind: "settle", id, amount: this.costOf(observed), at: this.#deps.clock(), record };
    if (rates?.tokensPerMinute !== undefined) settle.tokens = inputTokens(record.usage) + outputTokens(record.usage);
    if (answer !== undefined) settle.answer = answer;
    return this.#end(settle);
  }

  /** Charges nothing. Never rejects. */
  release(record: CallRecord): Promise<void> {
    return this.#end({ kind: "release", id: this.#request.id, at: this.#deps.clock(), record });
  }

  #end(operation: Settle | Release): Promise<void> {
    if (this.#ended) return Promise.resolve();
    this.#ended = true;
    const { ticker, clock } = this.#deps;
    ticker.leave(this);
    // In one commit with the charge, which needs the room.
    if (this.#reserve !== undefined) void commitEnd(this.#deps, { kind: "release", id: this.#reserve, at: clock() });
    return commitEnd(this.#deps, operation);
  }

  /** Renews the lease in time, and sees to it that the hold covers what the call has cost so far. */
  onTick(now: number): void {
    const renews = now - this.#renewedAt >= limits.holdLeaseMs / 4;
    const compares = now - this.#comparedAt >= TOP_UP_CHECK_MS;
    if (!renews && !compares) return;
    const seen = this.#observe();
    const cost = seen === undefined ? undefined : this.costOf(seen);
    if (renews) this.#renew(now, cost);
    if (!compares) return;
    this.#comparedAt = now;
    if (cost !== undefined && cost * 4n > this.#amount * 3n && !this.#toppingUp) void this.#topUp(cost);
  }

  #renew(now: number, observed: Nano | undefined): void {
    this.#renewedAt = now;
    void this.#prolong(observed);
  }

  /** A lost renewal costs nothing while the next one comes in time; one that comes too late needs a new hold. */
  async #prolong(observed: Nano | undefined): Promise<void> {
    const id = this.#reserve ?? this.#request.id;
    try {
      const leaseUntil = this.#deps.clock() + limits.holdLeaseMs;
      const { outcome } = await this.#deps.ledger.submit({ kind: "renew", id, leaseUntil, observed });
      if (outcome === "ended" && !this.#ended) await this.#holdAgain();
    } catch (reason) {
      this.#deps.onUnsettled(id, reason);
    }
  }

  /** Another node took this one for dead and has ended the hold: the call goes on only on money that is set aside. */
  async #holdAgain(): Promise<void> {
    const { id, accountId, purpose } = this.#request;
    const at = this.#deps.clock();
    const reserve = `${this.#reserve ?? id}:again`;
    const amount = this.#amount;
    const hold: Hold = {
      kind: "hold",
      id: reserve,
      accountId,
      amount,
      purpose,
      at,
      leaseUntil: at + limits.holdLeaseMs,
    };
    const { outcome } = await this.#deps.ledger.submit(hold);
    if (outcome !== "held" && outcome !== "exists") return this.#ended ? undefined : this.#giveUp(expired());
    this.#reserve = reserve;
    if (this.#ended) await commitEnd(this.#deps, { kind: "release", id: reserve, at: this.#deps.clock() });
  }

  /** Doubles the hold, or takes what is left; where nothing is, the call ends once it has used up what it holds. */
  async #topUp(cost: Nano): Promise<void> {
    this.#toppingUp = true;
    try {
      const doubled = 2n * (cost > this.#amount ? cost : this.#amount);
      const lack = await this.#raise(atMost(limits.callNanoMax, doubled));
      const rest = lack !== undefined && lack > 0n ? await this.#raise(this.#amount + lack) : lack;
      if (rest !== undefined && cost >= this.#amount && !this.#ended) this.#giveUp(usedUp(this.#amount));
    } catch (reason) {
      this.#deps.onUnsettled(this.#request.id, reason);
    } finally {
      this.#toppingUp = false;
    }
  }

  /** How much there would be room for, where it is not enough. */
  async #raise(amount: Nano): Promise<Nano | undefined> {
    const at = this.#deps.clock();
    const id = this.#reserve ?? this.#request.id;
    const result = await this.#deps.ledger.submit({ kind: "top-up", id, amount, at });
    if (result.outcome === "insufficient") return result.available;
    if (result.outcome !== "ended") this.#amount = amount;
    else if (!this.#ended) await this.#holdAgain();
    return undefined;
  }
}

/** A hold whose answer was lost may have been made all the same: it is given back as soon as the store can be reached. */
function takeBack(deps: ChargeDependencies, { id, at }: Hold, reason: unknown): never {
  const unknown = reason instanceof GatewayError && reason.cause !== undefined;
  if (unknown) void commitEnd(deps, { kind: "release", id, at }, "no-hold");
  throw reason;
}

/** How soon an end that the store did not take is tried again, ever more seldom. */
const RETRY_MS = 250;
const RETRY_MS_MAX = 5_000;

/**
 * Ends a hold. Resolves after the first try, so that a store that is down holds up no answer; the others follow on the
 * ticker. An end that is refused is told: it would be a charge that nobody pays. Never rejects.
 */
async function commitEnd(
  deps: ChargeDependencies,
  operation: Settle | Release,
  harmless?: "no-hold",
  waitMs = RETRY_MS,
): Promise<void> {
  const { ledger, unsettled, onUnsettled, ticker } = deps;
  try {
    const { outcome } = await ledger.submit(operation);
    unsettled.delete(operation.id);
    if ((outcome === "conflict" || outcome === "no-hold") && outcome !== harmless) onUnsettled(operation.id, outcome);
  } catch (reason) {
    unsettled.set(operation.id, operation);
    onUnsettled(operation.id, reason);
    const next = Math.min(2 * waitMs, RETRY_MS_MAX);
    ticker.after(waitMs, () => void commitEnd(deps, operation, harmless, next));
  }
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

function atMost(most: Nano, amount: Nano): Nano {
  return amount < most ? amount : most;
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

function usedUp(amount: Nano): GatewayError {
  return new GatewayError(
    "insufficient_credits",
    `The credits are used up: this call has cost ${formatCredits(amount)}, and nothing is left to go on with.`,
  );
}

function expired(): GatewayError {
  return new GatewayError(
    "insufficient_credits",
    "The call's hold has expired, since this node was paused for too long, and nothing is left to hold anew.",
  );
}
