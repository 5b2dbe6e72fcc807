/**
 * The money of one call, from hold to end.
 *
 *   held ──settle──▶ ended (charged)
 *     └───release──▶ ended (nothing charged)
 *
 * Whoever ends it first wins; later attempts change nothing. While it is open its lease is renewed, with what has been
 * observed so far, so that a call may take as long as it likes and a killed process still leaves a fair charge.
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
  RateLimits,
  RateState,
  Release,
  RetryKey,
  Settle,
} from "../ledger/index.ts";
import { chargeFor, type ModelPrice } from "../pricing/index.ts";
import type { CallBound } from "../dialects/index.ts";
import type { Watched } from "../streaming/index.ts";
import { type EndDependencies, endHold } from "./end-hold.ts";
import { rateHeaders } from "./rate-headers.ts";

/** How often a running call's cost is compared with its hold. */
const TOP_UP_CHECK_MS = 1_000;

/** Its ticker ticks often enough to renew a lease in time. */
export interface ChargeDependencies extends EndDependencies {
  clock: () => number;
  markupMillionths: bigint;
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
  /** What was priced last, and what it costs. */
  #priced: ObservedUsage | undefined;
  #cost = 0n;

  constructor(deps: ChargeDependencies, request: ChargeRequest, { amount, at }: Hold, rates: RateState | undefined) {
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
    if (observed !== this.#priced) {
      this.#cost = atMost(limits.callNanoMax, chargeFor(this.#request.price, observed, this.#deps.markupMillionths));
      this.#priced = observed;
    }
    return this.#cost;
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
    if (this.#reserve !== undefined) void endHold(this.#deps, { kind: "release", id: this.#reserve, at: clock() });
    return endHold(this.#deps, operation);
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
    if (this.#ended) await endHold(this.#deps, { kind: "release", id: reserve, at: this.#deps.clock() });
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

export function atMost(most: Nano, amount: Nano): Nano {
  return amount < most ? amount : most;
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
