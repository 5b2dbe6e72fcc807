/**
 * The lease of a hold: who keeps the hold alive, and until when.
 *
 *   process ──renew──▶ process          in time, together with the cost so far
 *      │  └──ended by another node──▶ a new hold, on credits held again
 *      └──park, handOver──▶ job         the job's lease is as long as the job may take; nobody renews it
 */
import { GatewayError, limits, type Nano } from "../core/index.ts";
import type { HoldKeeper, Move, OutcomeOf, Park, ParkedJob } from "../ledger/index.ts";
import type { WorkDependencies } from "./dependencies.ts";
import { endHold } from "./end-hold.ts";
import { atLeast } from "./work-cost.ts";
import { holdOf, type WorkOrder } from "./work-order.ts";

/** The interval at which the cost of running work is recorded with its hold: a killed process loses no more than this. */
const RECORD_MS = 2_000;

/** The first and the longest delay before a failed hand-over is retried. */
const LEND_RETRY_MS = 250;
const LEND_RETRY_MS_MAX = 5_000;

/** The state of a piece of work's money, as far as another process needs it to continue the work. */
export interface HoldState {
  /** Holds taken after the first one, each because the one before had expired; the last one is the current hold. */
  reserves: readonly string[];
  amount: Nano;
}

export class Lease {
  /** The held amount, as far as this process knows: a raise whose answer was lost is not part of it. */
  amount: Nano;
  keeper: HoldKeeper;
  /** Whether this process follows the work: it has neither ended nor been left to a job. */
  isFollowed = true;
  /** Whether this process has given the hold to a job. */
  isGiven = false;
  /** While the hold is given to a job: settled once the job has it, or this process keeps it. */
  givingAway: Promise<void> | undefined;
  readonly #deps: WorkDependencies;
  #order: WorkOrder;
  /** Called when the hold has expired and no credits are left to hold again. */
  readonly #onLost: (error: GatewayError) => void;
  /** When this process began to follow the work, by the ticker's clock. */
  readonly followedAt: number;
  #renewedAt: number;
  /** The last renewal, while it runs. */
  #renewal: Promise<void> | undefined;
  /** Charges that these holds and the first one caused by expiring are corrected at the end. */
  #reserves: readonly string[];
  /** A further one that was asked for and not answered yet: it may exist. */
  #unanswered: string | undefined;
  /** The cost of the work at the last renewal. An expiry charges no more than this. */
  #renewedCost = 0n;
  /** The part of the cost already charged by holds that have expired. */
  #costOfExpired = 0n;

  constructor(
    deps: WorkDependencies,
    order: WorkOrder,
    { reserves, amount, keeper }: HoldState & { keeper: HoldKeeper },
    onLost: (error: GatewayError) => void,
  ) {
    this.#deps = deps;
    this.#order = order;
    this.amount = amount;
    this.keeper = keeper;
    this.#reserves = reserves;
    this.#onLost = onLost;
    this.followedAt = deps.ticker.now();
    this.#renewedAt = this.followedAt;
  }

  /** The id of the current hold. */
  get holdId(): string {
    return this.#reserves.at(-1) ?? this.#order.id;
  }

  get holding(): HoldState {
    return { reserves: this.#reserves, amount: this.amount };
  }

  /** Stops following the work; its hold stays open. */
  leave(): void {
    this.isFollowed = false;
  }

  /** The work has ended: releases the holds that replaced an expired one. */
  end(): void {
    this.isFollowed = false;
    // In one commit with the charge, which needs the released credits.
    for (const id of this.#reserves) this.#release(id);
    if (this.#unanswered !== undefined) this.#release(this.#unanswered, "no-hold");
  }

  isDue(now: number): boolean {
    return this.keeper === "process" && now - this.#renewedAt >= limits.holdLeaseMs / 4;
  }

  /** Renews the lease if it is due, or if the work has cost more since the last time. Does nothing during a renewal. */
  renew(now: number, cost: Nano | undefined): void {
    if (this.keeper === "job" || this.#renewal !== undefined) return;
    const hasGrown = cost !== undefined && cost > this.#renewedCost && now - this.#renewedAt >= RECORD_MS;
    if (!hasGrown && !this.isDue(now)) return;
    this.#renewedAt = now;
    this.#renewal = this.#prolong(cost).finally(() => (this.#renewal = undefined));
  }

  /** A lost renewal does no harm if the next one arrives in time; one that arrives too late needs a new hold. */
  async #prolong(cost: Nano | undefined): Promise<void> {
    const id = this.holdId;
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
        await this.reacquire(id);
      }
    } catch (reason) {
      this.#deps.onUnsettled(id, reason);
    }
  }

  /**
   * Gives the hold to the source of this order, with another amount: raised or lowered in one commit. An expired hold is
   * taken again first, for as much as before; `ended` if nothing is left for that, or the work is not open here. Rejects
   * if the ledger cannot be asked: the hold may then have either amount, and the work must be ended.
   */
  async move(order: WorkOrder, amount: Nano): Promise<OutcomeOf<Move>> {
    const { provider, model } = order.source;
    while (this.isFollowed) {
      const id = this.holdId;
      const move: Move = { kind: "move", id, amount, at: this.#deps.clock(), provider, model };
      const result = await this.#deps.ledger.submit(move);
      if (result.outcome === "moved") {
        this.amount = amount;
        this.#order = order;
      }
      if (result.outcome !== "ended" || !(await this.reacquire(id))) return result;
    }
    return { outcome: "ended" };
  }

  /**
   * Another node took this one for dead and ended the hold `expired`. The work continues only on newly held credits:
   * resolves to whether there are any. Rejects if the ledger cannot be asked; the next renewal or top-up then tries
   * again, with the same id.
   */
  async reacquire(expired: string): Promise<boolean> {
    if (!this.isFollowed || expired !== this.holdId) return true;
    const at = this.#deps.clock();
    const id = `${expired}:again`;
    this.#unanswered = id;
    const { outcome } = await this.#deps.ledger.submit(holdOf(this.#order, { id, amount: this.amount, at }));
    // A renewal and a top-up may both have found the hold ended.
    if (expired !== this.holdId) return true;
    this.#unanswered = undefined;
    if (outcome !== "held" && outcome !== "exists") {
      if (this.isFollowed) this.#onLost(holdExpired());
      return false;
    }
    this.#reserves = [...this.#reserves, id];
    this.#costOfExpired = this.#renewedCost;
    return true;
  }

  #release(id: string, harmless?: "no-hold"): void {
    void endHold(this.#deps, { kind: "release", id, at: this.#deps.clock() }, harmless);
  }

  /**
   * Hands the hold over to a job and creates the job's row, in one commit. Until `until` no process needs to renew the
   * hold; if the work has not ended by then, the whole hold is charged. Rejects if the hold has ended, or if the store
   * cannot commit: whether it did is then unknown, and the work must be ended. `raised` settles with the raises that run.
   */
  park(until: number, jobOf: () => ParkedJob, raised: Promise<unknown>): Promise<void> {
    return this.#giveAway(raised, async () => {
      const park: Park = { kind: "park", id: this.holdId, leaseUntil: until, job: jobOf() };
      const { outcome } = await this.#deps.ledger.submit(park);
      if (outcome === "ended" || outcome === "conflict") throw new Error(`parking ${park.id}: ${outcome}`);
    });
  }

  /**
   * Hands the hold over to a job whose row the ledger's commit cannot reach. `save` stores the state of the money and must
   * reject only if it has stored nothing: then the hold stays with this process, and the rejection is passed on. Once it
   * is stored, the hold is the job's, and this process only commits the longer lease. Resolves after the first attempt.
   */
  async handOver(until: number, save: () => Promise<void>, raised: Promise<unknown>): Promise<void> {
    await this.#giveAway(raised, save);
    await this.#commitJobLease(this.holdId, until, LEND_RETRY_MS);
  }

  async #giveAway(raised: Promise<unknown>, give: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    // Neither renewals nor top-ups begin from here on: one in between would shorten the job's lease or change the amount.
    this.givingAway = promise;
    try {
      await Promise.all([this.#renewal, raised]);
      await give();
      this.keeper = "job";
      this.isGiven = true;
      this.leave();
    } finally {
      this.givingAway = undefined;
      resolve();
    }
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
}

function holdExpired(): GatewayError {
  return new GatewayError(
    "insufficient_credits",
    "The call's hold has expired, since this node was paused for too long, and nothing is left to hold again.",
  );
}
