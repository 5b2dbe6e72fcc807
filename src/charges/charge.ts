/**
 * The money of one piece of work, from hold to end.
 *
 *   held ──settle──▶ ended (charged)
 *    │ └──release──▶ ended (nothing charged)
 *    └──park, handOver──▶ kept by a job: another process may continue it
 *
 * The first end counts; later ones change nothing. While this process keeps the hold, it renews the lease together with
 * the cost observed so far, so work may take any time, and a killed process still leaves a fair charge. A hold kept by
 * a job has a lease of the job's own length and is not renewed here.
 */
import {
  appliedTerms,
  bytesOfTokens,
  formatCredits,
  GatewayError,
  inputTokens,
  limits,
  type Nano,
  type ObservedUsage,
  outputTokens,
  type Usage,
} from "../core/index.ts";
import type { CallRecord, HoldKeeper, Park, ParkedJob, StoredAnswer, Release, Settle } from "../ledger/index.ts";
import { boundFor, chargeFor, priceAt } from "../pricing/index.ts";
import type { Watched } from "../streaming/index.ts";
import { type EndDependencies, endHold, type EndOutcome } from "./end-hold.ts";
import { holdOf, type WorkOrder } from "./work-order.ts";

/** Headers with the remaining quota of the token's minute. */
type RateHeaders = Readonly<Record<string, string>>;

/** The interval at which the cost of running work is compared with its hold. */
const TOP_UP_CHECK_MS = 1_000;

/** How long a top-up that failed is not repeated. */
const TOP_UP_RETRY_MS = 1_000;

/** Tokens of text whose cost is calculated to know that of one. */
const TEXT_TOKENS = 1_000;

/** The interval at which the cost of running work is recorded with its hold: a killed process loses no more than this. */
const RECORD_MS = 2_000;

/** The first and the longest delay before a failed hand-over is retried. */
const LEND_RETRY_MS = 250;
const LEND_RETRY_MS_MAX = 5_000;

/** The ticker must tick often enough to renew a lease in time. */
export interface WorkDependencies extends EndDependencies {
  clock: () => number;
  markupMillionths: bigint;
}

/** The state of a piece of work's money, as far as another process needs it to continue the work. */
export interface HoldState {
  /** Holds taken after the first one, each because the one before had expired; the last one is the current hold. */
  reserves: readonly string[];
  amount: Nano;
}

/** The origin of the hold: this process has taken it, or continues a job's. */
interface ChargeStart {
  keeper: HoldKeeper;
  rates?: RateHeaders | undefined;
}

/** How much more output may pass before its cost is compared with the hold again. */
export interface Allowance {
  /** In bytes of generated text since the beginning. */
  untilBytes: number;
  /** Nothing more may pass before this resolves: the hold is used up, and being raised. */
  raised: Promise<void> | undefined;
}

/** The record stored with the end of a piece of work. */
export interface ChargeEnd {
  record: CallRecord;
  /** Stored for the order's retry key. */
  answer?: StoredAnswer | undefined;
}

const nothing = (): undefined => undefined;

export class Charge implements Watched {
  slot = -1;
  /** The remaining quota of the token's minute, for the answer; undefined if the token has no limits. */
  readonly rateHeaders: RateHeaders | undefined;
  readonly #deps: WorkDependencies;
  readonly #order: WorkOrder;
  #amount: Nano;
  /**
   * The owner that keeps the lease alive: this process, by renewing it, or a job, whose lease is as long as the job may
   * take.
   */
  #keeper: HoldKeeper;
  #handingOver = false;
  /** Whether this process has stopped following the work. */
  #isDetached = false;
  /** The last renewal or top-up, while it runs. */
  #underWay: Promise<void> | undefined;
  #readUsage: () => ObservedUsage | undefined = nothing;
  #onExhausted: (error: GatewayError) => void = nothing;
  /** The cost of what may still arrive once the work has been ended. */
  #unreadCost = 0n;
  #renewedAt: number;
  #comparedAt: number;
  #toppingUp = false;
  #costOfText: Nano | undefined;
  /** Charges that these holds and the first one caused by expiring are corrected at the end. */
  #reserves: readonly string[];
  /** The cost of the work at the last renewal. An expiry charges no more than this. */
  #renewedCost = 0n;
  /** The part of the cost already charged by holds that have expired. */
  #costOfExpired = 0n;
  #ended = false;
  /** The usage that was priced last, and its cost. */
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

  /**
   * Sets the function that reads the running work's usage, and the one that ends the work when no credits remain.
   * `unread` is what may still arrive after the end: it is part of what the hold must cover, up to a quarter of it.
   */
  meter(
    readUsage: () => ObservedUsage | undefined,
    onExhausted: (error: GatewayError) => void,
    unread: Usage = {},
  ): void {
    this.#readUsage = readUsage;
    this.#onExhausted = onExhausted;
    this.#unreadCost = this.#boundOf(unread);
  }

  /** The cost of the usage. */
  costOf(observed: ObservedUsage): Nano {
    // The same answer is priced for its header, for its charge and for the log.
    if (observed !== this.#priced) {
      const { price, priceOf, bound } = this.#order;
      const terms = appliedTerms(bound.terms, observed.terms);
      const priced = terms === observed.terms || terms === undefined ? observed : { ...observed, terms };
      this.#cost = capAt(limits.callNanoMax, chargeFor(price, priced, this.#deps.markupMillionths, priceOf));
      this.#priced = observed;
    }
    return this.#cost;
  }

  /**
   * Charges for the usage. An answer is complete for its client only after the charge is durable: a process that dies
   * before has neither answered nor charged. Never rejects: the outcome tells whether it is durable.
   */
  settle(observed: ObservedUsage, { record, answer }: ChargeEnd): Promise<EndOutcome> {
    const { id, principal } = this.#order;
    const settle: Settle = { kind: "settle", id, amount: this.costOf(observed), at: this.#deps.clock(), record };
    if (principal.rates?.tokensPerMinute !== undefined)
      settle.tokens = inputTokens(record.usage) + outputTokens(record.usage);
    if (answer !== undefined) settle.answer = answer;
    return this.#end(settle);
  }

  /** Charges nothing; without a record, the work leaves no trace. Never rejects. */
  release(record?: CallRecord): Promise<EndOutcome> {
    const release: Release = { kind: "release", id: this.#order.id, at: this.#deps.clock() };
    if (record !== undefined) release.record = record;
    return this.#end(release);
  }

  #end(operation: Settle | Release): Promise<EndOutcome> {
    if (this.#ended) return Promise.resolve({ isDurable: true, shortfall: 0n });
    this.#ended = true;
    const { ticker, clock } = this.#deps;
    ticker.leave(this);
    // In one commit with the charge, which needs the released credits.
    for (const id of this.#reserves) void endHold(this.#deps, { kind: "release", id, at: clock() });
    return endHold(this.#deps, operation);
  }

  /**
   * Hands the hold over to a job and creates the job's row, in one commit. Until `until` no process needs to renew the
   * hold; if the work has not ended by then, the whole hold is charged. Rejects if the hold has ended, or if the store
   * cannot commit: whether it did is then unknown, and the work must be ended.
   */
  park(until: number, jobOf: (holding: HoldState) => ParkedJob): Promise<void> {
    return this.#giveAway(async (holding) => {
      const park: Park = { kind: "park", id: this.#holdId, leaseUntil: until, job: jobOf(holding) };
      const { outcome } = await this.#deps.ledger.submit(park);
      if (outcome === "ended" || outcome === "conflict") throw new Error(`parking ${park.id}: ${outcome}`);
    });
  }

  /**
   * Hands the hold over to a job whose row the ledger's commit cannot reach. `save` stores the state of the money and must
   * reject only if it has stored nothing: then the hold stays with this process, and the rejection is passed on. Once it
   * is stored, the hold is the job's, and this process only commits the longer lease. Resolves after the first attempt.
   */
  async handOver(until: number, save: (holding: HoldState) => Promise<void>): Promise<void> {
    await this.#giveAway(save);
    await this.#commitJobLease(this.#holdId, until, LEND_RETRY_MS);
  }

  async #giveAway(give: (holding: HoldState) => Promise<void>): Promise<void> {
    // A renewal or top-up by this process in between would shorten the job's lease or change the stored amount.
    this.#handingOver = true;
    try {
      await this.#underWay;
      await give({ reserves: this.#reserves, amount: this.#amount });
    } finally {
      this.#handingOver = false;
    }
    this.#keeper = "job";
    this.detach();
  }

  /** If the hold has ended by then, the job ended it. */
  async #commitJobLease(id: string, leaseUntil: number, retryMs: number): Promise<void> {
    try {
      await this.#deps.ledger.submit({ kind: "renew", id, leaseUntil, observed: undefined, keeper: "job" });
    } catch (reason) {
      this.#deps.onUnsettled(id, reason);
      const next = Math.min(2 * retryMs, LEND_RETRY_MS_MAX);
      this.#deps.ticker.after(retryMs, () => void this.#commitJobLease(id, leaseUntil, next));
    }
  }

  /** Stops following the work; its hold stays open. */
  detach(): void {
    this.#isDetached = true;
    this.#deps.ticker.leave(this);
  }

  /** The id of the current hold. */
  get #holdId(): string {
    return this.#reserves.at(-1) ?? this.#order.id;
  }

  /**
   * Renews the lease in time, and earlier if the work has cost more since, and raises the hold if it no longer covers the
   * cost so far.
   */
  onTick(now: number): void {
    if (this.#handingOver) return;
    const sinceRenewal = now - this.#renewedAt;
    const isDue = sinceRenewal >= limits.holdLeaseMs / 4;
    const compares = now - this.#comparedAt >= TOP_UP_CHECK_MS;
    if (!isDue && !compares) return;
    const cost = this.#costSoFar();
    const hasGrown = cost !== undefined && cost > this.#renewedCost && sinceRenewal >= RECORD_MS;
    if (this.#keeper === "process" && (isDue || hasGrown)) this.#renew(now, cost);
    if (!compares) return;
    this.#comparedAt = now;
    this.#compare();
  }

  /**
   * Compares the cost of a stream with its hold as output passes, `outputBytes` so far, and tops the hold up before it is
   * used up.
   */
  follow(outputBytes: number): Allowance {
    const unlimited = { untilBytes: Number.POSITIVE_INFINITY, raised: undefined };
    // More text costs no more where calls or other units are priced.
    if (this.#textCost === 0n) return unlimited;
    const cost = this.#compare();
    if (cost === undefined) return unlimited;
    const next = this.#isLow(cost) ? this.#amount : (this.#amount * 3n) / 4n;
    return { untilBytes: outputBytes + this.#bytesFor(next - cost), raised: this.#raisedFrom(cost) };
  }

  /**
   * Compares the cost of the work with its hold now, and tops the hold up before it is used up. Returns a promise while it
   * is used up and being raised: nothing more may pass before it resolves.
   */
  keepUp(): Promise<void> | undefined {
    const cost = this.#compare();
    return cost === undefined ? undefined : this.#raisedFrom(cost);
  }

  /** The cost so far, with a top-up of a hold that is nearly used up; undefined if nothing is to be compared. */
  #compare(): Nano | undefined {
    if (this.#ended || this.#isDetached) return undefined;
    const seen = this.#costSoFar();
    const cost = seen === undefined ? undefined : this.#coveredCost(seen);
    if (cost !== undefined && this.#isLow(cost) && !this.#toppingUp) this.#underWay = this.#topUp(cost);
    return cost;
  }

  #isLow(cost: Nano): boolean {
    return cost * 4n > this.#amount * 3n;
  }

  #raisedFrom(cost: Nano): Promise<void> | undefined {
    return cost >= this.#amount ? this.#underWay : undefined;
  }

  /**
   * Raises the hold so that it covers this usage, which is about to be caused. Rejects with `insufficient_credits` if it
   * cannot be raised so far; the hold is then unchanged.
   */
  async cover(ahead: Usage): Promise<void> {
    const needed = this.#boundOf(ahead);
    if (this.#ended || needed <= this.#amount) return;
    const available = await this.#raise(needed);
    if (available === undefined) return;
    throw new GatewayError(
      "insufficient_credits",
      `Not enough credits: ${formatCredits(needed)} must be held to go on, and ${formatCredits(this.#amount + atLeast(0n, available))} are left.`,
    );
  }

  /** The bytes of generated text that this amount suffices for; at least one. */
  #bytesFor(amount: Nano): number {
    return Math.max(bytesOfTokens(Number((amount * BigInt(TEXT_TOKENS)) / this.#textCost)), 1);
  }

  /** The most that this usage can cost. */
  #boundOf(usage: Usage): Nano {
    const { price, bound } = this.#order;
    const at = bound.terms === undefined ? price : priceAt(price, bound.terms);
    return capAt(limits.callNanoMax, boundFor(at, usage, this.#deps.markupMillionths));
  }

  /** The cost so far that the hold must cover. */
  #coveredCost(cost: Nano): Nano {
    return cost + capAt(this.#amount / 4n, this.#unreadCost);
  }

  /** The cost of `TEXT_TOKENS` tokens of output. */
  get #textCost(): Nano {
    const { price, bound } = this.#order;
    const at = bound.terms === undefined ? price : priceAt(price, bound.terms);
    // With its input, on which the tier of the price depends.
    const input = { input: bound.inputTokens };
    const cost = (usage: Usage): Nano => boundFor(at, usage, this.#deps.markupMillionths);
    return (this.#costOfText ??= cost({ ...input, output: TEXT_TOKENS }) - cost(input));
  }

  /** A failing meter must neither stop the renewal of its lease nor the other holds on the ticker. */
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

  /** A lost renewal does no harm if the next one arrives in time; one that arrives too late needs a new hold. */
  async #prolong(cost: Nano | undefined): Promise<void> {
    const id = this.#holdId;
    // The amount charged by an expired hold is not charged again with this one if its process dies.
    const observed = cost === undefined ? undefined : atLeast(0n, cost - this.#costOfExpired);
    try {
      const leaseUntil = this.#deps.clock() + limits.holdLeaseMs;
      const before = this.#renewedCost;
      // A renewal whose answer is lost may have been committed.
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

  /** Another node took this one for dead and ended the hold. The work continues only on newly held credits. */
  async #reacquireHold(ended: string): Promise<void> {
    if (this.#ended || this.#isDetached || ended !== this.#holdId) return;
    const at = this.#deps.clock();
    const id = `${this.#holdId}:again`;
    const { outcome } = await this.#deps.ledger.submit(holdOf(this.#order, { id, amount: this.#amount, at }));
    // A renewal and a top-up may both have found the hold ended.
    if (ended !== this.#holdId) return;
    if (outcome !== "held" && outcome !== "exists") {
      if (!this.#ended && !this.#isDetached) this.#onExhausted(expired());
      return;
    }
    this.#reserves = [...this.#reserves, id];
    this.#costOfExpired = this.#renewedCost;
    if (this.#ended) await endHold(this.#deps, { kind: "release", id, at: this.#deps.clock() });
  }

  /**
   * Doubles the hold, or raises it by all available credits. If none remain, the work ends once it has used up its
   * hold.
   */
  async #topUp(cost: Nano): Promise<void> {
    this.#toppingUp = true;
    try {
      const doubled = 2n * (cost > this.#amount ? cost : this.#amount);
      const lack = await this.#raise(capAt(limits.callNanoMax, doubled));
      const rest = lack !== undefined && lack > 0n ? await this.#raise(this.#amount + lack) : lack;
      if (rest !== undefined && cost >= this.#amount && !this.#ended && !this.#isDetached)
        this.#onExhausted(usedUp(this.#amount));
    } catch (reason) {
      this.#deps.onUnsettled(this.#order.id, reason);
      await new Promise<void>((resolve) => this.#deps.ticker.after(TOP_UP_RETRY_MS, resolve));
    } finally {
      this.#toppingUp = false;
    }
  }

  /**
   * Raises the hold. Returns the available amount if it is not enough. A job's hold that has ended is not taken again:
   * either the work has ended, or its end will correct the charge of the expiry.
   */
  async #raise(amount: Nano): Promise<Nano | undefined> {
    const at = this.#deps.clock();
    const id = this.#holdId;
    const result = await this.#deps.ledger.submit({ kind: "top-up", id, amount, at });
    if (result.outcome === "insufficient") return result.available;
    if (result.outcome !== "ended") this.#amount = atLeast(this.#amount, amount);
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
