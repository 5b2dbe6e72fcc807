/**
 * One paid piece of work, from its hold to its end: the money, the generation record and the observers, whatever does it.
 *
 *   openWork ──▶ open ──end──▶ ended (charged or released, recorded)
 *                 │ ▲
 *             park│ │resumeWork, on any node
 *                 ▼ │
 *                parked
 */
import { type CallFile, formatCredits, type GatewayError, type Nano, type ObservedUsage } from "../core/index.ts";
import type { CallRecord, StoredAnswer } from "../ledger/index.ts";
import type { Charge, WorkDependencies } from "./charge.ts";
import { type ParkedWork, toParkedWork } from "./parked-work.ts";
import type { WorkOrder } from "./work-order.ts";

/** How a piece of work ended. */
export interface WorkEnd {
  /** The status that the client got. */
  status: number;
  outcome: CallRecord["outcome"];
  /** Undefined where nothing is charged. */
  observed?: ObservedUsage | undefined;
  error?: GatewayError | undefined;
  /** Kept for the order's retry key, where the work is complete. */
  answer?: StoredAnswer | undefined;
  /** Files that came with the request, for the log. */
  files?: readonly CallFile[] | undefined;
}

export class Work {
  readonly order: WorkOrder;
  readonly #deps: WorkDependencies;
  readonly #charge: Charge;
  /** By the performance clock of this process. */
  readonly #arrivedAt: number;
  #millisecondsToFirstByte: number | undefined;
  #state: "open" | "parked" | "ended" = "open";
  /** While the hold is handed over: fulfilled where the job has it. */
  #parking: Promise<void> | undefined;
  /** The usage that was priced last, and its price as text. */
  #priced: ObservedUsage | undefined;
  #credits = "0";

  /** Made by `openWork` and `resumeWork`. */
  constructor(deps: WorkDependencies, order: WorkOrder, charge: Charge) {
    this.order = order;
    this.#deps = deps;
    this.#charge = charge;
    this.#arrivedAt = order.arrivedAt ?? performance.now() - (deps.clock() - order.at);
  }

  /** OpenAI's headers of what the token's minute has left; undefined where nothing limits it. */
  get rateHeaders(): Readonly<Record<string, string>> | undefined {
    return this.#charge.rateHeaders;
  }

  /** Notes that the client gets something from now on. */
  firstByte(): void {
    this.#millisecondsToFirstByte = performance.now() - this.#arrivedAt;
  }

  /** The cost of this usage, in nano-credits. Throws for usage that no price covers. */
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
   * Sets how the usage so far is read. The hold then follows it: it is topped up, and a process that dies leaves a fair
   * charge. `onExhausted` is called once nothing is left to pay with: the work must end then.
   */
  meter(readUsage: () => ObservedUsage | undefined, onExhausted: (error: GatewayError) => void): void {
    this.#charge.meter(readUsage, onExhausted);
  }

  /**
   * Ends the work: settles what was used or releases the hold, writes the generation record in the same commit, and informs
   * the observer. Only the first end counts, and work that is parked is its job's to end: here nothing changes then. An end
   * that comes while it is being parked waits for the outcome. Resolves when it is durable, and never rejects.
   */
  end(end: WorkEnd): Promise<void> {
    if (this.#state !== "open") return Promise.resolve();
    if (this.#parking !== undefined) return this.#parking.catch(() => this.end(end));
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
   * Parks the work: `save` stores the plain data that `resumeWork` needs, in a job's row, and then the hold is the job's until
   * `until` (milliseconds since the epoch). In this order a process that dies in between leaves a job whose hold has a short
   * lease, and never a long hold that nothing would end. Rejects as `save` does, which must then have stored nothing: the work
   * stays open in this process. Otherwise it is the job's from then on, whatever becomes of the hold. Work with a retry key
   * can't be parked, since its answer could not be given again before its end.
   */
  async park(until: number, save: (parked: ParkedWork) => Promise<void>): Promise<void> {
    const { order } = this;
    if (this.#state !== "open" || this.#parking !== undefined) throw new Error(`the work ${order.id} is not open`);
    if (order.retry !== undefined) throw new Error(`the work ${order.id} has a retry key`);
    this.#parking = this.#charge.handOver(until, (holding) =>
      save(toParkedWork(order, holding, this.#deps.markupMillionths)),
    );
    try {
      await this.#parking;
      this.#state = "parked";
    } finally {
      this.#parking = undefined;
    }
  }

  /**
   * Lets go of work that a job keeps, without an end: a run that failed, or has lost its lease, must not follow it any longer
   * while another run goes on with it. Does nothing where it has been ended or parked.
   */
  leave(): void {
    if (this.#state !== "open") return;
    this.#state = "parked";
    this.#charge.detach();
  }

  #record({ status, outcome, observed }: WorkEnd): CallRecord {
    const { parent, principal, operation, dialect, source, streamed, at } = this.order;
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
      usage: observed?.usage ?? {},
      milliseconds: performance.now() - this.#arrivedAt,
      millisecondsToFirstByte: this.#millisecondsToFirstByte,
      startedAt: at,
    };
  }
}
