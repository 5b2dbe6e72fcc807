/**
 * One paid piece of work, from its hold to its end: the money, the generation record and the observers, independent of
 * how the work is done.
 *
 *   openWork ──▶ open ──end──▶ ended (charged or released, recorded)
 *                 │ ▲
 *             park│ │resumeWork, on any node
 *                 ▼ │
 *                parked
 */
import {
  appliedTerms,
  bytesOfTokens,
  type CallFile,
  formatCredits,
  type GatewayError,
  type Nano,
  type ObservedUsage,
  type PriceTerms,
  type Usage,
} from "../core/index.ts";
import type { CallRecord, ParkedJob, StoredAnswer } from "../ledger/index.ts";
import type { Charge } from "./charge.ts";
import type { WorkDependencies } from "./dependencies.ts";
import type { EndOutcome } from "./end-hold.ts";
import type { HoldState } from "./lease.ts";
import { type ParkedWork, toParkedWork } from "./parked-work.ts";
import type { Allowance } from "./top-ups.ts";
import type { WorkOrder } from "./work-order.ts";

/** The end of a piece of work. */
export interface WorkEnd {
  /** The status of the answer to the client. */
  status: number;
  outcome: CallRecord["outcome"];
  /** Undefined if nothing is charged. */
  observed?: ObservedUsage | undefined;
  /** Usage that is recorded and not charged: the operator may owe the upstream for it. */
  unbilled?: ObservedUsage | undefined;
  error?: GatewayError | undefined;
  /** Stored for the order's retry key if the work is complete. */
  answer?: StoredAnswer | undefined;
  /** Files of the request, for the log. */
  files?: readonly CallFile[] | undefined;
}

/** The output that the first hold of a text generation covers. */
export interface HeldOutput {
  /** In all choices together. */
  tokens: number;
  /** The limit that the request gets, per choice; undefined if its own remains. */
  limit: number | undefined;
}

/** The outcome of an end after the first one. */
const endedBefore: EndOutcome = { isDurable: true, shortfall: 0n };

export class Work {
  readonly order: WorkOrder;
  /** The limit in tokens that the request's output gets, per choice; undefined if its own remains. */
  readonly outputLimit: number | undefined;
  /** How much output may pass before `follow` is called first, in bytes: half of what is held, to have time to raise it. */
  readonly firstAllowance: number;
  readonly #deps: WorkDependencies;
  readonly #charge: Charge;
  /** By the ticker's clock. */
  #arrivedAt: number;
  /** In milliseconds since the epoch. */
  #startedAt: number;
  #millisecondsToFirstByte: number | undefined;
  #state: "open" | "parked" | "ended" = "open";
  /** While the hold is handed over: fulfilled once the job has it. */
  #parking: Promise<void> | undefined;
  /** The usage that was priced last, and its cost as text. */
  #priced: ObservedUsage | undefined;
  #credits = "0";

  /** Created by `openWork` and `resumeWork`. */
  constructor(deps: WorkDependencies, order: WorkOrder, charge: Charge, held?: HeldOutput) {
    this.order = order;
    this.outputLimit = held?.limit;
    this.firstAllowance = bytesOfTokens(held?.tokens ?? 0) / 2;
    this.#deps = deps;
    this.#charge = charge;
    this.#startedAt = order.at;
    this.#arrivedAt = order.arrivedAt ?? deps.ticker.now() - (deps.clock() - order.at);
  }

  /** OpenAI's headers with the remaining quota of the token's minute; undefined if the token has no limits. */
  get rateHeaders(): Readonly<Record<string, string>> | undefined {
    return this.#charge.rateHeaders;
  }

  /** Begins work whose hold was taken ahead: its time counts from now. */
  begin(): void {
    this.#startedAt = this.#deps.clock();
    this.#arrivedAt = this.#deps.ticker.now();
  }

  /** Records the time of the first byte to the client. */
  firstByte(): void {
    this.#millisecondsToFirstByte = this.#deps.ticker.now() - this.#arrivedAt;
  }

  /** The cost of this usage, in nano-credits. Throws for usage without a price. */
  costOf(observed: ObservedUsage): Nano {
    return this.#charge.costOf(observed);
  }

  /** The cost of this usage as a decimal number of credits, for a header and the log. */
  creditsOf(observed: ObservedUsage): string {
    if (observed !== this.#priced) {
      this.#credits = formatCredits(this.#charge.costOf(observed));
      this.#priced = observed;
    }
    return this.#credits;
  }

  /**
   * Sets the function that reads the usage so far. The hold then follows it: it is topped up, and a process that dies
   * leaves a fair charge. `onExhausted` is called once no credits remain; the work must then end. `unread` is what may
   * still arrive after that.
   */
  meter(readUsage: () => ObservedUsage | undefined, onExhausted: (error: GatewayError) => void, unread?: Usage): void {
    this.#charge.meter(readUsage, onExhausted, unread);
  }

  /** How much more output may pass, of `outputBytes` so far: see `Charge.follow`. */
  follow(outputBytes: number): Allowance {
    return this.#charge.follow(outputBytes);
  }

  /** Tops the hold up if it is nearly used up: see `Charge.keepUp`. */
  keepUp(): Promise<void> | undefined {
    return this.#charge.keepUp();
  }

  /** Raises the hold so that it covers this usage: see `Charge.cover`. */
  cover(ahead: Usage): Promise<void> {
    return this.#charge.cover(ahead);
  }

  /** Releases the hold of work that never began. It leaves no generation record. Never rejects. */
  discard(): Promise<EndOutcome> {
    if (this.#state !== "open") return Promise.resolve(endedBefore);
    this.#state = "ended";
    return this.#charge.release();
  }

  /**
   * Ends the work: settles its usage or releases the hold, stores the generation record in the same commit, and
   * notifies the observer. Only the first end counts. Parked work is ended by its job; here, this then changes nothing.
   * An end during parking waits for its outcome. Resolves once the end is durable, or could not be made durable; never
   * rejects.
   */
  end(end: WorkEnd): Promise<EndOutcome> {
    if (this.#state !== "open") return Promise.resolve(endedBefore);
    if (this.#parking !== undefined) {
      return this.#parking.then(
        () => endedBefore,
        () => this.end(end),
      );
    }
    const { observed, answer, files, error } = end;
    const record = this.#record(end);
    const credits = observed === undefined ? "0" : this.creditsOf(observed);
    // Nothing can throw from here on: the charge ends with the work.
    this.#state = "ended";
    const kept = end.outcome === "complete" && observed !== undefined ? answer : undefined;
    const committed =
      observed === undefined ? this.#charge.release(record) : this.#charge.settle(observed, { record, answer: kept });
    this.#deps.observer.ended?.({ order: this.order, record, credits, files, error });
    return committed;
  }

  /**
   * Parks the work: the hold is handed over to a job until `until` (milliseconds since the epoch), in the commit that
   * creates the job's row, whose payload contains the plain data for `resumeWork`. Rejects if the hold has ended or the
   * store cannot commit: the work stays open in this process, which must end it. The answer for the work's retry key is
   * stored by `keepAnswer`; until then the key is in use.
   */
  park(until: number, jobOf: (parked: ParkedWork) => ParkedJob): Promise<void> {
    return this.#leaveTo((charge, toParked) => charge.park(until, (holding) => jobOf(toParked(holding))));
  }

  /**
   * Parks the work of a job whose row is in another database than the ledger, such as a page of a crawl: `save` stores the
   * plain data for `resumeWork` there, then the hold is handed over to the job. In this order, a process that dies in
   * between leaves a job whose hold has a short lease, and never a long hold without an owner. Rejects if `save` rejects,
   * which must then have stored nothing: the work stays open in this process. Otherwise the work is the job's, even if the
   * hand-over of the hold fails.
   */
  handOver(until: number, save: (parked: ParkedWork) => Promise<void>): Promise<void> {
    return this.#leaveTo((charge, toParked) => charge.handOver(until, (holding) => save(toParked(holding))));
  }

  async #leaveTo(give: (charge: Charge, toParked: (holding: HoldState) => ParkedWork) => Promise<void>): Promise<void> {
    const { order } = this;
    if (this.#state !== "open" || this.#parking !== undefined) throw new Error(`the work ${order.id} is not open`);
    this.#parking = give(this.#charge, (holding) => toParkedWork(order, holding));
    try {
      await this.#parking;
      this.#state = "parked";
    } finally {
      this.#parking = undefined;
    }
  }

  /**
   * Stops following work that is kept by a job, without ending it. A run that failed or has lost its lease must not
   * follow the work while another run continues it. Does nothing if the work has ended or is parked.
   */
  leave(): void {
    if (this.#state !== "open") return;
    this.#state = "parked";
    this.#charge.detach();
  }

  /** The terms that have prices of their own. */
  #pricedTerms(observed: ObservedUsage | undefined): PriceTerms | undefined {
    const { bound, price } = this.order;
    const { serviceTier, inferenceGeo } = appliedTerms(bound.terms, observed?.terms) ?? {};
    const hasTier = serviceTier !== undefined && price.serviceTiers.has(serviceTier);
    const hasGeo = inferenceGeo !== undefined && price.inferenceGeos.has(inferenceGeo);
    if (!hasTier && !hasGeo) return undefined;
    return { ...(hasTier && { serviceTier }), ...(hasGeo && { inferenceGeo }) };
  }

  #record({ status, outcome, observed, unbilled }: WorkEnd): CallRecord {
    const { parent, principal, operation, dialect, source, streamed } = this.order;
    return {
      parent,
      owner: principal.user,
      operation,
      dialect,
      provider: source.provider,
      model: source.model,
      streamed,
      status,
      outcome,
      usage: (observed ?? unbilled)?.usage ?? {},
      terms: this.#pricedTerms(observed ?? unbilled),
      maxOutputTokens: this.outputLimit,
      milliseconds: this.#deps.ticker.now() - this.#arrivedAt,
      millisecondsToFirstByte: this.#millisecondsToFirstByte,
      startedAt: this.#startedAt,
    };
  }
}
