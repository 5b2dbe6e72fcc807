/**
 * The money of one piece of work, from hold to end.
 *
 *   held ──settle──▶ ended (charged)
 *    │ └──release──▶ ended (nothing charged)
 *    └──handOver──▶ kept by a job: another process may take it up again
 *
 * The first end counts; later ones change nothing. While this process keeps the hold it renews the lease, with the cost
 * observed so far, so that work may take as long as it likes and a killed process still leaves a fair charge. A hold that a
 * job keeps has a lease of the job's own length and is not renewed here.
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
import type { CallRecord, HoldKeeper, StoredAnswer, Release, Settle } from "../ledger/index.ts";
import { chargeFor } from "../pricing/index.ts";
import type { Watched } from "../streaming/index.ts";
import { type EndDependencies, endHold } from "./end-hold.ts";
import { holdOf, type WorkOrder } from "./work-order.ts";

/** Headers that tell what the token's minute has left. */
type RateHeaders = Readonly<Record<string, string>>;

/** How often the cost of running work is compared with its hold. */
const TOP_UP_CHECK_MS = 1_000;

/** How soon a hand-over that the store did not take is tried again, ever more seldom. */
const LEND_RETRY_MS = 250;
const LEND_RETRY_MS_MAX = 5_000;

/** Its ticker ticks often enough to renew a lease in time. */
export interface WorkDependencies extends EndDependencies {
  clock: () => number;
  markupMillionths: bigint;
}

/** Where the money of a piece of work stands: what another process needs to go on with it. */
export interface HoldState {
  /** Holds taken in place of the first one, each after the one before had expired; the last is the work's now. */
  reserves: readonly string[];
  amount: Nano;
}

/** How a process comes by a hold: it has taken it, or goes on with a job's. */
interface ChargeStart {
  keeper: HoldKeeper;
  rates?: RateHeaders | undefined;
}

/** What is written of a piece of work with its end. */
export interface ChargeEnd {
  record: CallRecord;
  /** Kept for the order's retry key. */
  answer?: StoredAnswer | undefined;
}

const nothing = (): undefined => undefined;

export class Charge implements Watched {
  slot = -1;
  /** What the token's minute has left, for the answer; undefined where nothing limits it. */
  readonly rateHeaders: RateHeaders | undefined;
  readonly #deps: WorkDependencies;
  readonly #order: WorkOrder;
  #amount: Nano;
  /** Who renews the lease: this process, or nobody, since a job's hold has a lease of the job's length. */
  #keeper: HoldKeeper;
  #handingOver = false;
  /** Whether this process follows the work no longer. */
  #left = false;
  /** The last renewal or top-up. */
  #underWay: Promise<void> | undefined;
  #readUsage: () => ObservedUsage | undefined = nothing;
  #onExhausted: (error: GatewayError) => void = nothing;
  #renewedAt: number;
  #comparedAt: number;
  #toppingUp = false;
  /** What these and the first hold were charged at when they expired is corrected at the end. */
  #reserves: readonly string[];
  /** What the work had cost by the last renewal: an expiry charges no more. */
  #renewedCost = 0n;
  /** That of holds which have expired. */
  #costOfExpired = 0n;
  #ended = false;
  /** What was priced last, and what it costs. */
  #priced: ObservedUsage | undefined;
  #cost = 0n;

  constructor(
    deps: WorkDependencies,
    order: WorkOrder,
    { reserves, amount }: HoldState,
    { keeper, rates }: ChargeStart,
  ) {
    this.#deps = deps;
    this.#order = order;
    this.#amount = amount;
    this.#keeper = keeper;
    this.#reserves = reserves;
    this.#renewedAt = deps.ticker.now();
    this.#comparedAt = this.#renewedAt;
    this.rateHeaders = rates;
    deps.ticker.watch(this);
  }

  /** Sets how the running work's usage so far is read, and how the work is ended when nothing is left to pay for it. */
  meter(readUsage: () => ObservedUsage | undefined, onExhausted: (error: GatewayError) => void): void {
    this.#readUsage = readUsage;
    this.#onExhausted = onExhausted;
  }

  /** What the usage costs. */
  costOf(observed: ObservedUsage): Nano {
    // The same answer is asked about for its header, for its charge and for the log.
    if (observed !== this.#priced) {
      this.#cost = capAt(limits.callNanoMax, chargeFor(this.#order.price, observed, this.#deps.markupMillionths));
      this.#priced = observed;
    }
    return this.#cost;
  }

  /**
   * Charges for what was used. An answer is complete for its client only once that is durable: a process that dies before
   * then has neither answered nor charged. Never rejects.
   */
  settle(observed: ObservedUsage, { record, answer }: ChargeEnd): Promise<void> {
    const { id, principal } = this.#order;
    const settle: Settle = { kind: "settle", id, amount: this.costOf(observed), at: this.#deps.clock(), record };
    if (principal.rates?.tokensPerMinute !== undefined)
      settle.tokens = inputTokens(record.usage) + outputTokens(record.usage);
    if (answer !== undefined) settle.answer = answer;
    return this.#end(settle);
  }

  /** Charges nothing. Never rejects. */
  release(record: CallRecord): Promise<void> {
    return this.#end({ kind: "release", id: this.#order.id, at: this.#deps.clock(), record });
  }

  #end(operation: Settle | Release): Promise<void> {
    if (this.#ended) return Promise.resolve();
    this.#ended = true;
    const { ticker, clock } = this.#deps;
    ticker.leave(this);
    // In one commit with the charge, which needs the room.
    for (const id of this.#reserves) void endHold(this.#deps, { kind: "release", id, at: clock() });
    return endHold(this.#deps, operation);
  }

  /**
   * Hands the hold over to a job: until `until` no process need renew it, and where the work has not been ended by then, all
   * that is held is charged. `save` stores where the money stands; it must reject only where it has stored nothing. Then the
   * hold stays with this process, and so does the rejection. Once it has stored it the hold is the job's: this process only
   * sees to it that the longer lease is committed. Resolves after the first try.
   */
  async handOver(until: number, save: (holding: HoldState) => Promise<void>): Promise<void> {
    // No renewal or top-up of this process's own may come in between: it would shorten the job's lease, or move the money.
    this.#handingOver = true;
    await this.#underWay;
    const id = this.#holdId;
    try {
      await save({ reserves: this.#reserves, amount: this.#amount });
    } finally {
      this.#handingOver = false;
    }
    this.#keeper = "job";
    this.detach();
    await this.#lend(id, until, LEND_RETRY_MS);
  }

  /** A hold that has ended by then was the job's to end. */
  async #lend(id: string, leaseUntil: number, retryMs: number): Promise<void> {
    try {
      await this.#deps.ledger.submit({ kind: "renew", id, leaseUntil, observed: undefined, keeper: "job" });
    } catch (reason) {
      this.#deps.onUnsettled(id, reason);
      const next = Math.min(2 * retryMs, LEND_RETRY_MS_MAX);
      this.#deps.ticker.after(retryMs, () => void this.#lend(id, leaseUntil, next));
    }
  }

  /** Follows the work no longer; its hold stays as it is. */
  detach(): void {
    this.#left = true;
    this.#deps.ticker.leave(this);
  }

  /** The hold that stands for the work now. */
  get #holdId(): string {
    return this.#reserves.at(-1) ?? this.#order.id;
  }

  /** Renews the lease in time, and raises the hold where it no longer covers what the work has cost so far. */
  onTick(now: number): void {
    if (this.#handingOver) return;
    const renews = this.#keeper === "process" && now - this.#renewedAt >= limits.holdLeaseMs / 4;
    const compares = now - this.#comparedAt >= TOP_UP_CHECK_MS;
    if (!renews && !compares) return;
    const cost = this.#costSoFar();
    if (renews) this.#renew(now, cost);
    if (!compares) return;
    this.#comparedAt = now;
    if (cost !== undefined && cost * 4n > this.#amount * 3n && !this.#toppingUp) this.#underWay = this.#topUp(cost);
  }

  /** A meter that fails must keep neither its lease from being renewed nor its neighbours on the ticker from theirs. */
  #costSoFar(): Nano | undefined {
    try {
      const seen = this.#readUsage();
      return seen === undefined ? undefined : this.costOf(seen);
    } catch (reason) {
      this.#deps.onUnsettled(this.#order.id, reason);
      return undefined;
    }
  }

  #renew(now: number, cost: Nano | undefined): void {
    this.#renewedAt = now;
    this.#underWay = this.#prolong(cost);
  }

  /** A lost renewal costs nothing while the next one comes in time; one that comes too late needs a new hold. */
  async #prolong(cost: Nano | undefined): Promise<void> {
    const id = this.#holdId;
    // What an expired hold was charged at is not charged again with this one, should its process die.
    const observed = cost === undefined ? undefined : atLeast(0n, cost - this.#costOfExpired);
    try {
      const leaseUntil = this.#deps.clock() + limits.holdLeaseMs;
      const before = this.#renewedCost;
      // Also one whose answer is lost may have been committed.
      if (cost !== undefined) this.#renewedCost = cost;
      const { outcome } = await this.#deps.ledger.submit({ kind: "renew", id, leaseUntil, observed });
      if (outcome === "ended") {
        this.#renewedCost = before;
        await this.#reacquireHold(id);
      }
    } catch (reason) {
      this.#deps.onUnsettled(id, reason);
    }
  }

  /** Another node took this one for dead and has ended the hold: the work goes on only on money that is set aside. */
  async #reacquireHold(ended: string): Promise<void> {
    if (this.#ended || this.#left || ended !== this.#holdId) return;
    const at = this.#deps.clock();
    const id = `${this.#holdId}:again`;
    const { outcome } = await this.#deps.ledger.submit(holdOf(this.#order, { id, amount: this.#amount, at }));
    // A renewal and a top-up may both have found the hold ended.
    if (ended !== this.#holdId) return;
    if (outcome !== "held" && outcome !== "exists") {
      if (!this.#ended && !this.#left) this.#onExhausted(expired());
      return;
    }
    this.#reserves = [...this.#reserves, id];
    this.#costOfExpired = this.#renewedCost;
    if (this.#ended) await endHold(this.#deps, { kind: "release", id, at: this.#deps.clock() });
  }

  /** Doubles the hold, or takes all that is left. With nothing left, the work ends once it has used up its hold. */
  async #topUp(cost: Nano): Promise<void> {
    this.#toppingUp = true;
    try {
      const doubled = 2n * (cost > this.#amount ? cost : this.#amount);
      const lack = await this.#raise(capAt(limits.callNanoMax, doubled));
      const rest = lack !== undefined && lack > 0n ? await this.#raise(this.#amount + lack) : lack;
      if (rest !== undefined && cost >= this.#amount && !this.#ended && !this.#left)
        this.#onExhausted(usedUp(this.#amount));
    } catch (reason) {
      this.#deps.onUnsettled(this.#order.id, reason);
    } finally {
      this.#toppingUp = false;
    }
  }

  /**
   * Raises the hold. Returns the room that there is, if it is not enough. A job's hold that has ended is not taken again:
   * either the work has been ended, or its end will correct what was charged when the lease ran out.
   */
  async #raise(amount: Nano): Promise<Nano | undefined> {
    const at = this.#deps.clock();
    const id = this.#holdId;
    const result = await this.#deps.ledger.submit({ kind: "top-up", id, amount, at });
    if (result.outcome === "insufficient") return result.available;
    if (result.outcome !== "ended") this.#amount = amount;
    else if (this.#keeper === "job") this.detach();
    else await this.#reacquireHold(id);
    return undefined;
  }
}

function atLeast(least: Nano, amount: Nano): Nano {
  return amount > least ? amount : least;
}

export function capAt(most: Nano, amount: Nano): Nano {
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
