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
import { formatCredits, GatewayError, limits, type Nano, type ObservedUsage, type Usage } from "../core/index.ts";
import type { Hold, Ledger, Release, Settle } from "../ledger/index.ts";
import { boundFor, chargeFor, dearestInput, dearestOutput, type ModelPrice } from "../pricing/index.ts";
import type { CallBound } from "../dialects/index.ts";
import type { Ticker, Watched } from "../streaming/index.ts";

/** Output that is held for where neither the request nor the price layers set a limit. */
const OUTPUT_TOKENS_ASSUMED = 32_768;

/** Bytes of text that make a token, where an upstream leaves the counting to us. */
const BYTES_PER_TOKEN = 4;

export interface ChargeDependencies {
  ledger: Ledger;
  clock: () => number;
  /** Ticks often enough to renew a lease in time. */
  ticker: Ticker;
  markupMillionths: bigint;
  onUnsettled: (id: string, reason: unknown) => void;
  /** Calls whose end the store has not taken yet, though it was asked to. */
  unsettled: Set<string>;
}

export interface ChargeRequest {
  id: string;
  accountId: string;
  purpose: string;
  price: ModelPrice;
  bound: CallBound;
}

/** The most that a call within its bound can use, as its dearest tokens. */
export function usageBound(price: ModelPrice, bound: CallBound): Usage {
  const window = price.contextWindow ?? Number.POSITIVE_INFINITY;
  const tokensIn = Math.min(bound.inputTokens, window);
  const cap = bound.outputTokens ?? price.maxOutputTokens ?? Math.min(OUTPUT_TOKENS_ASSUMED, window);
  return {
    ...dearestInput(price, tokensIn),
    ...dearestOutput(price, Math.min(cap, window) * bound.choices),
    requests: 1,
  };
}

/** Usage estimated from lengths, for a call whose upstream named none. */
export function estimatedUsage(bound: CallBound, outputBytes: number): Usage {
  return {
    input: Math.ceil(bound.inputTokens / BYTES_PER_TOKEN),
    output: Math.ceil(outputBytes / BYTES_PER_TOKEN),
    requests: 1,
  };
}

export interface Settlement {
  credits: Nano;
  /** Resolves when the charge is durable. Never rejects. */
  committed: Promise<void>;
}

export class Charge implements Watched {
  slot = -1;
  readonly #deps: ChargeDependencies;
  readonly #request: ChargeRequest;
  #observe: () => ObservedUsage | undefined = () => undefined;
  #renewedAt: number;
  #ended = false;

  /** Sets the most that the call can cost aside, durably. Throws 402 where there is not enough. */
  static async open(deps: ChargeDependencies, request: ChargeRequest): Promise<Charge> {
    const needed = boundFor(request.price, usageBound(request.price, request.bound), deps.markupMillionths);
    const amount = atMost(limits.callNanoMax, needed);
    const at = deps.clock();
    const { id, accountId, purpose } = request;
    const hold: Hold = { kind: "hold", id, accountId, amount, purpose, at, leaseUntil: at + limits.holdLeaseMs };
    const result = await deps.ledger.submit(hold);
    if (result.outcome === "insufficient")
      throw insufficient(needed, result.available, request.bound.outputTokens === undefined);
    if (result.outcome !== "held") throw new Error(`hold ${id}: ${result.outcome}`);
    return new Charge(deps, request, at);
  }

  private constructor(deps: ChargeDependencies, request: ChargeRequest, at: number) {
    this.#deps = deps;
    this.#request = request;
    this.#renewedAt = at;
    deps.ticker.watch(this);
  }

  /** Says how to learn what the running call has used so far. */
  observeWith(observe: () => ObservedUsage | undefined): void {
    this.#observe = observe;
  }

  /**
   * Charges for what was used. An answer is complete for its client only once `committed` has resolved: a process that
   * dies before then has neither answered nor charged.
   */
  settle(observed: ObservedUsage): Settlement {
    const credits = this.#costOf(observed);
    return {
      credits,
      committed: this.#end({ kind: "settle", id: this.#request.id, amount: credits, at: this.#deps.clock() }),
    };
  }

  /** Charges nothing. */
  release(): void {
    void this.#end({ kind: "release", id: this.#request.id, at: this.#deps.clock() });
  }

  #costOf(observed: ObservedUsage): Nano {
    return atMost(limits.callNanoMax, chargeFor(this.#request.price, observed, this.#deps.markupMillionths));
  }

  #end(operation: Settle | Release): Promise<void> {
    if (this.#ended) return Promise.resolve();
    this.#ended = true;
    this.#deps.ticker.leave(this);
    return this.#commit(operation);
  }

  /** Resolves after the first try, so that a store that is down holds up no answer; the others follow on the ticker. */
  async #commit(operation: Settle | Release): Promise<void> {
    try {
      await this.#deps.ledger.submit(operation);
      this.#deps.unsettled.delete(operation.id);
    } catch (reason) {
      this.#deps.unsettled.add(operation.id);
      this.#deps.onUnsettled(this.#request.id, reason);
      this.#deps.ticker.after(0, () => void this.#commit(operation));
    }
  }

  /** Renews the lease in time. */
  onTick(now: number): void {
    if (now - this.#renewedAt < limits.holdLeaseMs / 4) return;
    this.#renewedAt = now;
    const seen = this.#observe();
    const observed = seen === undefined ? undefined : this.#costOf(seen);
    const renewal = this.#deps.ledger.submit({
      kind: "renew",
      id: this.#request.id,
      leaseUntil: now + limits.holdLeaseMs,
      observed,
    });
    // A lost renewal costs nothing while the next one comes in time.
    renewal.catch((reason: unknown) => this.#deps.onUnsettled(this.#request.id, reason));
  }
}

function atMost(most: Nano, amount: Nano): Nano {
  return amount < most ? amount : most;
}

function insufficient(needed: Nano, available: Nano, unlimited: boolean): GatewayError {
  const left = available > 0n ? available : 0n;
  const advice = unlimited ? " Set max_tokens to need less." : "";
  return new GatewayError(
    "insufficient_credits",
    `Not enough credits: this call needs up to ${formatCredits(needed)}, ${formatCredits(left)} are left.${advice}`,
  );
}
