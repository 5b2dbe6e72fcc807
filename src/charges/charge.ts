/**
 * The money of one piece of work, from hold to end.
 *
 *   held ──settle──▶ ended (charged)
 *    │ └──release──▶ ended (nothing charged)
 *    └──park, handOver──▶ kept by a job: another process may continue it
 *
 * The first end counts; later ones change nothing. `WorkCost` prices the usage, `Lease` keeps the hold alive, `TopUps`
 * raise it. While this process keeps the hold, it renews the lease together with the cost observed so far, so work may
 * take any time, and a killed process still leaves a fair charge. A hold kept by a job has a lease of the job's own
 * length and is not renewed here.
 */
import {
  type GatewayError,
  inputTokens,
  type Nano,
  type ObservedUsage,
  outputTokens,
  type Usage,
} from "../core/index.ts";
import type { CallRecord, HoldKeeper, ParkedJob, StoredAnswer, Release, Settle } from "../ledger/index.ts";
import type { Watched } from "../streaming/index.ts";
import type { WorkDependencies } from "./dependencies.ts";
import { endHold, type EndOutcome } from "./end-hold.ts";
import { type HoldState, Lease } from "./lease.ts";
import { type Allowance, TopUps } from "./top-ups.ts";
import { WorkCost } from "./work-cost.ts";
import type { WorkOrder } from "./work-order.ts";

/** Headers with the remaining quota of the token's minute. */
type RateHeaders = Readonly<Record<string, string>>;

/** The origin of the hold: this process has taken it, or continues a job's. */
interface ChargeStart {
  keeper: HoldKeeper;
  rates?: RateHeaders | undefined;
}

/** The record stored with the end of a piece of work. */
export interface ChargeEnd {
  record: CallRecord;
  /** Stored for the order's retry key. */
  answer?: StoredAnswer | undefined;
}

export class Charge implements Watched {
  slot = -1;
  /** The remaining quota of the token's minute, for the answer; undefined if the token has no limits. */
  readonly rateHeaders: RateHeaders | undefined;
  readonly #deps: WorkDependencies;
  readonly #order: WorkOrder;
  readonly #cost: WorkCost;
  readonly #lease: Lease;
  readonly #topUps: TopUps;
  #ended = false;

  constructor(deps: WorkDependencies, order: WorkOrder, holding: HoldState, { keeper, rates }: ChargeStart) {
    this.#deps = deps;
    this.#order = order;
    this.#cost = new WorkCost(order);
    this.#lease = new Lease(deps, order, { ...holding, keeper }, (error) => this.#topUps.exhaust(error));
    this.#topUps = new TopUps(deps, { id: order.id, cost: this.#cost, lease: this.#lease });
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
    this.#topUps.meter(readUsage, onExhausted, unread);
  }

  /** The cost of the usage. */
  costOf(observed: ObservedUsage): Nano {
    return this.#cost.of(observed);
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
    this.#deps.ticker.leave(this);
    this.#lease.end();
    return endHold(this.#deps, operation);
  }

  /** Hands the hold over to a job and creates the job's row: see `Lease.park`. */
  park(until: number, jobOf: (holding: HoldState) => ParkedJob): Promise<void> {
    return this.#lease.park(until, jobOf, this.#topUps.settled());
  }

  /** Hands the hold over to a job whose row the ledger's commit cannot reach: see `Lease.handOver`. */
  handOver(until: number, save: (holding: HoldState) => Promise<void>): Promise<void> {
    return this.#lease.handOver(until, save, this.#topUps.settled());
  }

  /** Stops following the work; its hold stays open. */
  detach(): void {
    this.#lease.leave();
    this.#deps.ticker.leave(this);
  }

  /**
   * Renews the lease in time, and earlier if the work has cost more since, and raises the hold if it no longer covers the
   * cost so far.
   */
  onTick(now: number): void {
    const lease = this.#lease;
    // A hold that another process took over is no longer followed.
    if (!lease.isFollowed) return this.#deps.ticker.leave(this);
    if (lease.givingAway !== undefined) return;
    const isCheckDue = this.#topUps.isDue(now);
    if (!isCheckDue && !lease.isDue(now)) return;
    lease.renew(now, this.#topUps.costSoFar());
    if (isCheckDue) this.#topUps.check(now);
  }

  /**
   * Compares the cost of a stream with its hold as output passes, `outputBytes` so far, and tops the hold up before it is
   * used up.
   */
  follow(outputBytes: number): Allowance {
    return this.#topUps.follow(outputBytes);
  }

  /**
   * Compares the cost of the work with its hold now, and tops the hold up before it is used up. Returns a promise while it
   * is used up and being raised: nothing more may pass before it resolves. It then is to be asked again.
   */
  keepUp(): Promise<void> | undefined {
    return this.#topUps.keepUp();
  }

  /**
   * Raises the hold so that it covers this usage, which is about to be caused. Rejects with `insufficient_credits` if it
   * cannot be raised so far; the hold is then unchanged.
   */
  cover(ahead: Usage): Promise<void> {
    return this.#topUps.cover(ahead);
  }
}
