/**
 * One paid piece of work, from its hold to its end: the money, the generation record and the observers, independent of
 * how the work is done.
 *
 *   openWork ──▶ open ──end──▶ ended (charged or released, recorded)
 *                 │ ▲
 *   park, handOver│ │resumeWork, on any node
 *                 ▼ │
 *                kept by a job
 *
 * The first end counts. `WorkCost` prices the usage, `Lease` keeps the hold alive, `TopUps` raise it. While this process
 * keeps the hold, it renews the lease together with the cost observed so far, so work may take any time, and a killed
 * process still leaves a fair charge. A hold kept by a job has a lease of the job's own length and is not renewed here.
 */
import {
  appliedTerms,
  bytesOfTokens,
  type CallFile,
  formatCredits,
  type GatewayError,
  inputTokens,
  loggableId,
  type Nano,
  type ObservedUsage,
  outputTokens,
  type PriceTerms,
  type Usage,
} from "../core/index.ts";
import type { CallRecord, HoldKeeper, ParkedJob, Release, Settle, StoredAnswer } from "../ledger/index.ts";
import type { Watched } from "../streaming/index.ts";
import type { WorkDependencies } from "./dependencies.ts";
import { endHold, type EndOutcome } from "./end-hold.ts";
import { HeldOutput, type SentLimits } from "./held-output.ts";
import { type HoldState, Lease } from "./lease.ts";
import { type AskedUpstreams, type ParkedWork, toParkedWork } from "./parked-work.ts";
import { type Allowance, TopUps } from "./top-ups.ts";
import { countsTokens } from "./rate-headers.ts";
import { capAt, creditsOf, WorkCost } from "./work-cost.ts";
import { isRateLimited, withOwnMarkup, type WorkOrder } from "./work-order.ts";

/** The end of a piece of work. */
export interface WorkEnd {
  /** The status of the answer to the client. */
  status: number;
  outcome: CallRecord["outcome"];
  /** Undefined if nothing is charged. */
  observed?: ObservedUsage | undefined;
  /** Usage that is recorded and not charged: the operator may owe the upstream for it. */
  unbilled?: ObservedUsage | undefined;
  /** The most that the upstream may bill for an answer that was lost: a bound, which is in the log and in no record. */
  lost?: ObservedUsage | undefined;
  error?: GatewayError | undefined;
  /** Stored for the order's retry key if the work is complete. */
  answer?: StoredAnswer | undefined;
  /** Files of the request, for the log. */
  files?: readonly CallFile[] | undefined;
}

/** The hold with which work begins, taken by this process or kept by a job. */
interface WorkStart extends HoldState {
  keeper: HoldKeeper;
  /** OpenAI's headers with the remaining quota of the token's minute; undefined if the token has no limits. */
  rateHeaders?: Readonly<Record<string, string>> | undefined;
  /** The output that the hold of a text generation covers, in tokens of all choices together. */
  outputTokens?: number | undefined;
  /** Absent: the request keeps its own limits. */
  limits?: SentLimits | undefined;
  /** The requests before it was parked. */
  asked?: AskedUpstreams;
}

interface WorkTimes {
  /** In milliseconds since the epoch. */
  startedAt: number;
  /** By the ticker's clock. */
  arrivedAt: number;
  /** From its arrival until its hold was durable; undefined if that was taken ahead, or by another process. */
  heldMs: number | undefined;
  millisecondsToFirstByte: number | undefined;
}

const ownLimits: SentLimits = { outputTokens: undefined, toolRuns: undefined };

/** The outcome of an end after the first one. */
const endedBefore: EndOutcome = { isDurable: true, shortfall: 0n };

export class Work implements Watched {
  slot = -1;
  /** Another one from a move on. */
  order: WorkOrder;
  readonly rateHeaders: WorkStart["rateHeaders"];
  /** Others from a move on. */
  limits: SentLimits;
  /** Its requests to upstreams; all of them only once one has failed. */
  readonly asked: AskedUpstreams;
  /** How much output may pass before `follow` is called first, in bytes: half of what is held, to have time to raise it. */
  firstAllowance: number;
  readonly #deps: WorkDependencies;
  #cost: WorkCost;
  readonly #lease: Lease;
  #topUps: TopUps;
  readonly #times: WorkTimes;
  /** Whether it has ended here, or was left to its job. */
  #isOver = false;

  /** Created by `openWork` and `resumeWork`. */
  constructor(deps: WorkDependencies, order: WorkOrder, cost: WorkCost, start: WorkStart) {
    this.order = order;
    this.rateHeaders = start.rateHeaders;
    this.limits = start.limits ?? ownLimits;
    this.asked = { ...start.asked };
    this.firstAllowance = bytesOfTokens(start.outputTokens ?? 0) / 2;
    this.#deps = deps;
    this.#cost = cost;
    this.#lease = new Lease(deps, order, start, (error) => this.#topUps.exhaust(error));
    this.#topUps = new TopUps(deps, this, cost, this.#lease);
    const now = this.#lease.followedAt;
    const arrivedAt = order.arrivedAt ?? now - (deps.clock() - order.at);
    const heldMs = start.keeper === "process" ? now - arrivedAt : undefined;
    this.#times = { startedAt: order.at, arrivedAt, heldMs, millisecondsToFirstByte: undefined };
    deps.ticker.watch(this);
  }

  /** Begins work whose hold was taken ahead: its time counts from now. */
  begin(): void {
    this.#times.startedAt = this.#deps.clock();
    this.#times.arrivedAt = this.#deps.ticker.now();
    this.#times.heldMs = undefined;
  }

  /** Records the time of the first byte to the client. */
  firstByte(): void {
    this.#times.millisecondsToFirstByte = this.#deps.ticker.now() - this.#times.arrivedAt;
  }

  /** The cost of this usage, in nano-credits. Throws for usage without a price. */
  costOf(observed: ObservedUsage): Nano {
    return this.#cost.of(observed);
  }

  /**
   * Sets the function that reads the usage so far. The hold then follows it: it is topped up, and a process that dies
   * leaves a fair charge. `onExhausted` is called once no credits remain; the work must then end. `unread` is what may
   * still arrive after that: it is part of what the hold must cover, up to a quarter of it.
   */
  meter(readUsage: () => ObservedUsage | undefined, onExhausted: (error: GatewayError) => void, unread?: Usage): void {
    this.#topUps.meter(readUsage, onExhausted, unread);
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

  /**
   * Moves open work that has used nothing yet, and is not metered, to another target: its source, price and bound become
   * those of this order, and its hold is raised or lowered in one commit, for less output and fewer runs of hosted tools
   * if the credits, or those that the caller allows, suffice only for that. `unaffordable` if they do not suffice even then; nothing has changed then.
   * Rejects if the ledger cannot be asked, or the hold has expired and nothing is left: the work must then be ended.
   */
  async moveTo(planned: WorkOrder): Promise<"moved" | "unaffordable"> {
    const { session, clientRequestId, endUser, tags, trace, chargeMax } = this.order;
    const named = { ...planned, session, clientRequestId, endUser, tags, trace, chargeMax };
    const output = new HeldOutput(withOwnMarkup(named));
    if (!output.isWithinMax) return "unaffordable";
    for (;;) {
      const result = await this.#lease.move(output.order, output.amount);
      if (result.outcome === "moved") break;
      if (result.outcome === "ended") throw new Error(`the work ${planned.id} is not open`);
      // What it holds already is available to it as well.
      if (!output.lower(result.available + this.#lease.amount)) return "unaffordable";
    }
    const { order, cost, held } = output;
    this.order = order;
    this.limits = held.limits;
    this.firstAllowance = bytesOfTokens(held.outputTokens ?? 0) / 2;
    this.#cost = cost;
    this.#topUps = new TopUps(this.#deps, this, cost, this.#lease);
    return "moved";
  }

  /** Renews the lease in time, and earlier if the work has cost more since; tops the hold up. */
  onTick(now: number): void {
    const lease = this.#lease;
    // A hold that another process took over is no longer followed.
    if (!lease.isFollowed) return this.#deps.ticker.leave(this);
    if (lease.givingAway !== undefined) return;
    const isCheckDue = this.#topUps.isDue(now);
    if (!isCheckDue && !lease.isDue(now)) return;
    const cost = this.#topUps.costSoFar();
    lease.renew(now, cost && capAt(this.#cost.chargeMax, cost));
    if (isCheckDue) this.#topUps.check(now);
  }

  /** Releases the hold of work that never began. It leaves no generation record. Never rejects. */
  discard(): Promise<EndOutcome> {
    if (this.#isOver || this.#lease.isGiven) return Promise.resolve(endedBefore);
    return this.#endHold({ kind: "release", id: this.order.id, at: this.#deps.clock() });
  }

  /**
   * Ends the work: settles its usage or releases the hold, stores the generation record in the same commit, and
   * notifies the observer. Only the first end counts. Parked work is ended by its job; here, this then changes nothing.
   * An end during parking waits for its outcome. Resolves once the end is durable, or could not be made durable; never
   * rejects.
   */
  end(end: WorkEnd): Promise<EndOutcome> {
    if (this.#isOver || this.#lease.isGiven) return Promise.resolve(endedBefore);
    const { givingAway } = this.#lease;
    if (givingAway !== undefined) return givingAway.then(() => this.end(end));
    const { observed, answer, files, error, outcome } = end;
    const { order } = this;
    const { id, principal } = order;
    const record = this.#record(end);
    const at = this.#deps.clock();
    const cost = observed === undefined ? 0n : this.costOf(observed);
    const owed = end.unbilled ?? end.lost;
    const unbilled = owed && creditsOf(this, owed);
    let committed: Promise<EndOutcome>;
    if (observed === undefined) committed = this.#endHold({ kind: "release", id, at, record });
    else {
      const settle: Settle = { kind: "settle", id, amount: cost, at, record };
      const { usage } = record;
      if (isRateLimited(principal) && countsTokens(principal)) settle.tokens = inputTokens(usage) + outputTokens(usage);
      if (outcome === "complete" && answer !== undefined) settle.answer = answer;
      committed = this.#endHold(settle);
    }
    const { heldMs } = this.#times;
    this.#deps.observer.ended?.({ order, record, heldMs, credits: formatCredits(cost), unbilled, files, error });
    return committed;
  }

  /** Nothing can throw from here on: the hold ends with the work. */
  #endHold(operation: Settle | Release): Promise<EndOutcome> {
    this.leave();
    this.#lease.end();
    return endHold(this.#deps, operation);
  }

  /**
   * Parks the work: the hold is handed over to a job until `until` (milliseconds since the epoch), in the commit that
   * creates the job's row, whose payload contains the plain data for `resumeWork`. Rejects if the hold has ended or the
   * store cannot commit: the work stays open in this process, which must end it. The answer for the work's retry key is
   * stored by `keepAnswer`; until then the key is in use.
   */
  async park(until: number, jobOf: (parked: ParkedWork) => ParkedJob): Promise<void> {
    requireOpen(this.order, this.#lease, this.#isOver);
    await this.#lease.park(until, () => jobOf(this.parked()), this.#topUps.settled());
  }

  /**
   * Parks the work of a job whose row is in another database than the ledger, such as a page of a crawl: `save` stores the
   * plain data for `resumeWork` there, then the hold is handed over to the job. In this order, a process that dies in
   * between leaves a job whose hold has a short lease, and never a long hold without an owner. Rejects if `save` rejects,
   * which must then have stored nothing: the work stays open in this process. Otherwise the work is the job's, even if the
   * hand-over of the hold fails.
   */
  async handOver(until: number, save: (parked: ParkedWork) => Promise<void>): Promise<void> {
    requireOpen(this.order, this.#lease, this.#isOver);
    await this.#lease.handOver(until, () => save(this.parked()), this.#topUps.settled());
  }

  /** The plain data of the work as it is now, for the row of its job. */
  parked(): ParkedWork {
    return toParkedWork(this.order, this.#lease.holding, this.asked);
  }

  /**
   * Stops following work that is kept by a job, without ending it. A run that failed or has lost its lease must not
   * follow the work while another run continues it. Does nothing if the work has ended or is parked.
   */
  leave(): void {
    this.#isOver = true;
    this.#lease.leave();
    this.#deps.ticker.leave(this);
  }

  #record({ status, outcome, unbilled, observed = unbilled, error }: WorkEnd): CallRecord {
    const { parent, session, clientRequestId, endUser, tags } = this.order;
    const { principal, operation, dialect, source, streamed } = this.order;
    const { startedAt, arrivedAt, millisecondsToFirstByte } = this.#times;
    return {
      parent,
      session,
      clientRequestId,
      endUser,
      tags,
      owner: principal.user,
      operation,
      dialect,
      provider: source.provider,
      model: source.model,
      streamed,
      status,
      outcome,
      usage: observed?.usage ?? {},
      estimated: observed?.estimated,
      listCredits: observed === undefined ? 0 : Number(this.#cost.listOf(observed)),
      terms: pricedTerms(this.order, observed),
      maxOutputTokens: this.limits.outputTokens,
      milliseconds: this.#deps.ticker.now() - arrivedAt,
      millisecondsToFirstByte,
      startedAt,
      route: this.asked.route,
      upstreamRequestId: loggableId(this.asked.upstreamRequestId ?? this.asked.attempts?.at(-1)?.upstreamRequestId),
      attempts: this.asked.attempts,
      errorCode: error?.code,
    };
  }
}

/** Throws for work that has ended, or belongs to a job. */
function requireOpen({ id }: WorkOrder, { isGiven, givingAway }: Lease, isOver: boolean): void {
  if (isOver || isGiven || givingAway !== undefined) throw new Error(`the work ${id} is not open`);
}

/** The terms that have prices of their own. */
function pricedTerms({ bound, price }: WorkOrder, observed: ObservedUsage | undefined): PriceTerms | undefined {
  const { serviceTier, inferenceGeo } = appliedTerms(bound.terms, observed?.terms) ?? {};
  const hasTier = serviceTier !== undefined && price.serviceTiers.has(serviceTier);
  const hasGeo = inferenceGeo !== undefined && price.inferenceGeos.has(inferenceGeo);
  if (!hasTier && !hasGeo) return undefined;
  return { ...(hasTier && { serviceTier }), ...(hasGeo && { inferenceGeo }) };
}
