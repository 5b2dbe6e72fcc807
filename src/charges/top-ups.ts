import {
  formatCredits,
  GatewayError,
  limits,
  mostBytesOf,
  type Nano,
  type ObservedUsage,
  type Usage,
} from "../core/index.ts";
import type { OutcomeOf, TopUp } from "../ledger/index.ts";
import type { WorkDependencies } from "./dependencies.ts";
import { type CountedWork, textLimit } from "./estimate.ts";
import type { Lease } from "./lease.ts";
import type { WorkOrder } from "./work-order.ts";
import { beyondMax } from "./max-credits.ts";
import { atLeast, capAt, type WorkCost } from "./work-cost.ts";

/** The interval at which the cost of running work is compared with its hold. */
const TOP_UP_CHECK_MS = 1_000;

/** How long a top-up that failed is not repeated. */
const TOP_UP_RETRY_MS = 1_000;

/** How much more output may pass before its cost is compared with the hold again. */
export interface Allowance {
  /** In bytes of generated text since the beginning. */
  untilBytes: number;
  /** Nothing more may pass before this resolves: the hold is used up, and being raised. */
  raised: Promise<void> | undefined;
}

const nothing = (): undefined => undefined;

/**
 * Raises the hold of running work before its cost reaches it, and ends the work when no credits are left for that.
 *
 * A hold of the most that the work can cost is enough: it covers the input and the limit that was sent, or a price that
 * does not depend on output. It is raised only if the cost exceeds it all the same, and an estimate by bytes does so only
 * well beyond the limit, whatever the text (`resolveUsage`).
 */
export class TopUps {
  readonly #deps: WorkDependencies;
  readonly #work: CountedWork & { order: WorkOrder };
  readonly #cost: WorkCost;
  readonly #lease: Lease;
  #readUsage: () => ObservedUsage | undefined = nothing;
  #onExhausted: (error: GatewayError) => void = nothing;
  /** The cost of what may still arrive once the work has been ended. */
  #unreadCost = 0n;
  #comparedAt: number;
  /** The top-up that runs, with the pause after one that failed. Nothing else is waited for when the hold is used up. */
  #underWay: Promise<void> | undefined;
  /** Fulfilled after the last raise for usage ahead, and all before it. */
  #covering: Promise<unknown> | undefined;
  /** A total that was asked for without an answer: it may be held, but does not count as that. */
  #unanswered: Nano | undefined;
  /** The most that the work can cost, once that was needed. */
  #most: Nano | undefined;

  constructor(deps: WorkDependencies, work: CountedWork & { order: WorkOrder }, cost: WorkCost, lease: Lease) {
    this.#deps = deps;
    this.#work = work;
    this.#cost = cost;
    this.#lease = lease;
    this.#comparedAt = lease.followedAt;
  }

  /** See `Work.meter`. */
  meter(readUsage: () => ObservedUsage | undefined, onExhausted: (error: GatewayError) => void, unread?: Usage): void {
    this.#readUsage = readUsage;
    this.#onExhausted = onExhausted;
    if (unread !== undefined) this.#unreadCost = this.#cost.boundOf(unread);
  }

  /** Ends the work, since no credits are left to go on with. The first reason counts. */
  exhaust(error: GatewayError): void {
    const end = this.#onExhausted;
    this.#onExhausted = nothing;
    end(error);
  }

  /** Fulfilled once no raise runs that has begun by now; none begins while the hold is given to a job. */
  settled(): Promise<unknown> {
    return Promise.all([this.#underWay, this.#covering]);
  }

  isDue(now: number): boolean {
    return now - this.#comparedAt >= TOP_UP_CHECK_MS;
  }

  check(now: number): void {
    this.#comparedAt = now;
    this.#compare();
  }

  /** The cost so far, also beyond the caller's own limit. A failing meter must neither stop the renewal of its lease nor the other holds on the ticker. */
  costSoFar(): Nano | undefined {
    try {
      const seen = this.#readUsage();
      return seen === undefined ? undefined : this.#cost.fullOf(seen);
    } catch (reason) {
      this.#deps.onUnsettled(this.#work.order.id, reason);
      return undefined;
    }
  }

  /** See `Work.follow`. */
  follow(outputBytes: number): Allowance {
    const unlimited = { untilBytes: Number.POSITIVE_INFINITY, raised: undefined };
    if (!this.#cost.isOfText) return unlimited;
    const cost = this.#compare();
    const { amount } = this.#lease;
    if (cost === undefined || amount >= limits.callNanoMax) return unlimited;
    const limitBytes = mostBytesOf((textLimit(this.#work) ?? 0) * this.#work.order.bound.choices);
    if (this.#isWhole && outputBytes < limitBytes) return { untilBytes: limitBytes, raised: this.#raisedFrom(cost) };
    const next = this.#isLow(cost) || !this.#cost.mayExceed(amount) ? amount : (amount * 3n) / 4n;
    return { untilBytes: outputBytes + this.#cost.bytesFor(next - cost), raised: this.#raisedFrom(cost) };
  }

  /** See `Work.keepUp`. */
  keepUp(): Promise<void> | undefined {
    const cost = this.#compare();
    return cost === undefined ? undefined : this.#raisedFrom(cost);
  }

  /** See `Work.cover`. */
  async cover(ahead: Usage): Promise<void> {
    const needed = this.#cost.boundOf(ahead);
    // The amount of a hold that is being given to a job has been stored.
    while (this.#lease.givingAway !== undefined) await this.#lease.givingAway;
    if (!this.#lease.isFollowed || needed <= this.#lease.amount) return;
    const { chargeMax } = this.#cost;
    if (needed > chargeMax) throw beyondMax(`${formatCredits(needed)} must be held to go on`, chargeMax);
    const raising = this.#raise(needed);
    this.#covering = Promise.allSettled([this.#covering, raising]);
    const available = await raising;
    if (available === undefined) return;
    throw new GatewayError(
      "insufficient_credits",
      `Not enough credits: ${formatCredits(needed)} must be held to go on, and ${formatCredits(this.#lease.amount + atLeast(0n, available))} are left.`,
    );
  }

  /** The cost that the hold must cover, with a top-up of a hold that is nearly used up; undefined if nothing is compared. */
  #compare(): Nano | undefined {
    if (!this.#lease.isFollowed) return undefined;
    const seen = this.costSoFar();
    if (seen === undefined) return undefined;
    const cost = seen + capAt(this.#lease.amount / 4n, this.#unreadCost);
    if (this.#isLow(cost) && this.#underWay === undefined && this.#lease.givingAway === undefined) {
      this.#underWay = this.#topUp(cost).finally(() => (this.#underWay = undefined));
    }
    return cost;
  }

  #isLow(cost: Nano): boolean {
    const { amount } = this.#lease;
    if (cost * 4n <= amount * 3n || amount >= limits.callNanoMax) return false;
    if (cost > amount) return true;
    // A hold that its caller lets grow no more may be used up.
    return (this.#cost.mayExceed(amount) || cost === amount) && !this.#isWhole;
  }

  /** Whether the hold is the most that the work can cost. */
  get #isWhole(): boolean {
    return this.#lease.amount >= (this.#most ??= mostOf(this.#work, this.#cost));
  }

  #raisedFrom(cost: Nano): Promise<void> | undefined {
    return cost >= this.#lease.amount ? (this.#underWay ?? this.#lease.givingAway) : undefined;
  }

  /**
   * Doubles the hold, or raises it by all available credits. If none remain, the work ends once it has used up its
   * hold. Never rejects; after a failure it resolves when the next one may be tried.
   */
  async #topUp(cost: Nano): Promise<void> {
    const lease = this.#lease;
    try {
      const most = cost <= (this.#most ?? 0n) ? this.#most : undefined;
      const { chargeMax } = this.#cost;
      const wanted = capAt(most ?? chargeMax, 2n * atLeast(lease.amount, cost));
      const lack = await this.#raise(capAt(chargeMax, wanted));
      const rest = lack !== undefined && lack > 0n ? await this.#raise(lease.amount + lack) : lack;
      // Otherwise others took a part of the rest meanwhile.
      const isNothingLeft = rest !== undefined && rest <= 0n;
      if (cost < lease.amount || !lease.isFollowed) return;
      if (isNothingLeft) this.exhaust(usedUp(lease.amount));
      else if (!this.#cost.mayExceed(lease.amount))
        this.exhaust(beyondMax(`this call has cost ${formatCredits(lease.amount)}`, chargeMax));
    } catch (reason) {
      this.#deps.onUnsettled(this.#work.order.id, reason);
      await this.#deps.ticker.pause(TOP_UP_RETRY_MS);
    }
  }

  /** Raises the hold to this total. Returns the available amount if it is not enough. */
  async #raise(amount: Nano): Promise<Nano | undefined> {
    // If that is held already, it is not available any more: it must be known first.
    if (this.#unanswered !== undefined && this.#unanswered < amount) await this.#raiseTo(this.#unanswered);
    return this.#raiseTo(amount);
  }

  /**
   * A hold that has expired is taken again first. A job's is not: either the work has ended, or its end will correct the
   * charge of the expiry.
   */
  async #raiseTo(amount: Nano): Promise<Nano | undefined> {
    const lease = this.#lease;
    while (lease.isFollowed) {
      const id = lease.holdId;
      const result = await this.#submit(id, amount);
      if (result.outcome === "insufficient") return result.available;
      if (result.outcome !== "ended") {
        lease.amount = atLeast(lease.amount, amount);
        return undefined;
      }
      if (lease.keeper === "job") lease.leave();
      else if (!(await lease.reacquire(id))) return 0n;
    }
    return undefined;
  }

  async #submit(id: string, amount: Nano): Promise<OutcomeOf<TopUp>> {
    try {
      const result = await this.#deps.ledger.submit({ kind: "top-up", id, amount, at: this.#deps.clock() });
      const isHeld = result.outcome === "raised" || result.outcome === "exists";
      // A hold that could not be raised so far is no larger either.
      if (!isHeld || amount >= (this.#unanswered ?? 0n)) this.#unanswered = undefined;
      return result;
    } catch (reason) {
      this.#unanswered = atLeast(this.#unanswered ?? 0n, amount);
      throw reason;
    }
  }
}

/** The most that work can cost. A text without a limit, and a session, whose input is still to come, may cost as much as any call. */
function mostOf(work: CountedWork, cost: WorkCost): Nano {
  const { bound, output } = work.order;
  if (output !== undefined && !cost.isOfText) return 0n;
  const limit = output === undefined ? bound.outputTokens : textLimit(work);
  const isUnknown = bound.isGrowing === true || (output !== undefined && limit === undefined);
  return isUnknown ? limits.callNanoMax : cost.ofBound(limit);
}

function usedUp(amount: Nano): GatewayError {
  return new GatewayError(
    "insufficient_credits",
    `The credits are used up: this call has cost ${formatCredits(amount)}, and nothing is left to go on with.`,
  );
}
