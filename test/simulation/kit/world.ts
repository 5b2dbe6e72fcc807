import { Database } from "bun:sqlite";
import { GatewayError, type Nano, parseCredits } from "../../../src/core/index.ts";
import {
  type LedgerOperation,
  type LedgerOutcome,
  type LedgerStore,
  openLedgerStore,
  type OutcomeOf,
} from "../../../src/ledger/index.ts";
import { type ModelPrice, PriceBook } from "../../../src/pricing/index.ts";
import type { SqliteStorage } from "../../../src/storage/index.ts";
import { openStorage } from "../../kit/storage.ts";
import { BudgetChanges } from "./budget-changes.ts";
import type { Weather } from "./faulty-store.ts";
import { Meetings, type Span } from "./meetings.ts";
import { Random } from "./random.ts";
import { VirtualTime } from "./virtual-time.ts";

/** One of so many seeds has budgets. */
const BUDGETED_SEEDS = 4;

/** Calls of the injected parts within one event; beyond it, something calls itself without a turn of the event loop. */
const CALLS_MAX = 200_000;

const account = "user:u";

/** A piece of work, as the simulation judges it. */
export interface Known {
  id: string;
  /** The amount that the work's process knows to be held. */
  held: Nano;
  /** The holds of the work that the sweeper has ended. */
  expired: Set<string>;
  /** The cost of its last end; undefined before. Zero for a release. */
  cost: Nano | undefined;
  /** Whether an end of the work itself is in the store. */
  isEnded: boolean;
  /** Whether the store holds its job's row. */
  isParked: boolean;
  /** Its call does not know that a job has it: both end it, and the second end is refused if it differs. */
  endsTwice: boolean;
}

export interface WorldOptions {
  seed: number;
  credits: Nano;
  tickMs: number;
  template: Template;
  /** Called with each line of the trace. */
  onTrace: ((line: string) => void) | undefined;
  /** Called if an event never ends. Does not return. */
  onSpin: (reason: string) => never;
}

/** A migrated storage in memory, of which each seed gets a copy. */
export interface Template {
  storage: SqliteStorage;
  bytes: Uint8Array;
}

export async function openTemplate(): Promise<Template> {
  const storage = await openStorage("sqlite::memory:");
  return { storage, bytes: storage.handle.serialize() };
}

const book = new PriceBook({
  operatorPrices: { "up/*": { input_mtok: 1, output_mtok: 2 }, "dear/*": { input_mtok: 4, output_mtok: 9 } },
  unpriced: "refuse",
  clock: () => 0,
});

function priceOf(id: string): ModelPrice {
  const price = book.lookup({ id, model: "m", priceProvider: undefined });
  if (price === undefined) throw new Error("no price");
  return price;
}

export const calm: Weather = { name: "calm", isSync: false, latencyMs: [0, 3], refuses: 0, loses: 0 };

/** Everything that one seed runs in: a clock, a storage, an account, and the facts of its works. */
export class World {
  readonly options: WorldOptions;
  readonly time = new VirtualTime();
  readonly random: Random;
  readonly meetings: Meetings;
  readonly inner: LedgerStore;
  readonly price: ModelPrice;
  /** Of another target. */
  readonly dearPrice: ModelPrice;
  weather: Weather = calm;
  /** Called when something begins, to trouble it. */
  onBegin: (subject: string, span: Span) => void = () => undefined;
  traceHash = 0;
  /** The first thing that was found wrong. */
  finding: string | undefined;
  /** What an operator does with budgets meanwhile; undefined if there are none. */
  readonly #budgets: BudgetChanges | undefined;
  readonly #handle: Database;
  readonly #known = new Map<string, Known>();
  /** The subject whose events an operation of this work belongs to: a session for its works. */
  readonly #subjects = new Map<string, string>();
  /** The works of each series that were held, in their order. */
  readonly #series = new Map<string, string[]>();
  /** Calls of the injected parts within this event. */
  calls = 0;

  constructor(options: WorldOptions) {
    this.options = options;
    this.random = new Random(options.seed);
    this.meetings = new Meetings(
      (line) => this.trace(line),
      (subject, span) => this.onBegin(subject, span),
    );
    const { storage, bytes } = options.template;
    this.#handle = Database.deserialize(bytes, { safeIntegers: true, strict: true });
    const own = { ...storage, handle: this.#handle };
    this.inner = openLedgerStore(own);
    const { time } = this;
    const { seed, credits } = options;
    const reports = { trace: (line: string) => this.trace(line), find: (what: string) => this.find(what) };
    this.#budgets =
      seed % BUDGETED_SEEDS === 1 ? new BudgetChanges({ storage: own, time, seed, credits, ...reports }) : undefined;
    this.price = priceOf("up/m");
    this.dearPrice = priceOf("dear/m");
  }

  /** The account of calls that begin now. */
  get account(): string {
    return this.#budgets?.accountId ?? account;
  }

  /** Whether the account of later calls may be another one, under which their retry keys are not found. */
  get mayMove(): boolean {
    return this.#budgets !== undefined;
  }

  async open(): Promise<void> {
    const { time, inner, options } = this;
    if (this.#budgets !== undefined) return this.#budgets.open();
    const about = { kind: "user", name: "u", parentId: undefined, prepaid: true } as const;
    await inner.putAccount({ id: account, ...about, maxBudget: undefined, period: undefined }, time.now);
    await inner.commit([{ kind: "grant", id: "grant", accountId: account, amount: options.credits, at: time.now }]);
  }

  close(): void {
    this.#handle.close();
  }

  trace(line: string): void {
    const stamped = `${this.time.now} ${line}`;
    this.traceHash = Bun.hash.xxHash32(stamped, this.traceHash);
    this.options.onTrace?.(stamped);
  }

  /** Records a fault; the first one counts. */
  find(what: string): void {
    this.trace(`FOUND: ${what}`);
    this.finding ??= what;
  }

  expect(isRight: boolean, what: () => string): void {
    if (!isRight) this.find(what());
  }

  /** A new event of the clock. */
  beginEvent(): void {
    this.calls = 0;
  }

  /** One of the injected parts was called: within one event, there is an end to that. */
  countCall(): void {
    this.calls += 1;
    if (this.calls > CALLS_MAX) this.options.onSpin("it spins within one turn of the event loop");
  }

  know(id: string, subject: string = id): Known {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const fresh: Known = {
      id,
      held: 0n,
      expired: new Set(),
      cost: undefined,
      isEnded: false,
      isParked: false,
      endsTwice: false,
    };
    this.#known.set(id, fresh);
    this.#subjects.set(id, subject);
    return fresh;
  }

  /** The ids of the works of a series that were held, in their order. */
  worksIn(series: string): readonly string[] {
    return this.#series.get(series) ?? [];
  }

  get works(): Iterable<Known> {
    return this.#known.values();
  }

  subjectOf(holdId: string): string {
    const id = workOf(holdId);
    return this.#subjects.get(id) ?? id;
  }

  /** The work has ended, with this cost. */
  noteEnd(id: string, credits: string): void {
    const cost = parseCredits(credits);
    this.trace(`${id}: ended for ${cost}`);
    // The first end counts. A call without an answer to its hand-over has ended its work, and its job ends it again.
    this.know(id).cost ??= cost;
  }

  /** The store has committed these operations. */
  noteApplied(operations: readonly LedgerOperation[], outcomes: readonly LedgerOutcome[]): void {
    operations.forEach((operation, index) => {
      const outcome = outcomes[index]?.outcome;
      const { kind } = operation;
      if (kind === "sweep") return this.#noteSwept();
      if (kind === "grant") return;
      const known = this.know(workOf(operation.id));
      if (kind === "park" && outcome === "parked") known.isParked = true;
      if ((kind === "settle" || kind === "release") && operation.id === known.id) {
        if (outcome === "settled" || outcome === "released") known.isEnded = true;
      }
    });
  }

  /** Which holds the sweeper has ended: those that are not open any more. */
  #noteSwept(): void {
    const rows = this.#handle.query<{ id: string }, []>("SELECT id FROM entries WHERE kind = 'expire'").all();
    for (const { id } of rows) {
      const known = this.know(workOf(id));
      if (known.expired.has(id)) continue;
      known.expired.add(id);
      this.meetings.happen(this.subjectOf(id), "expiry");
    }
  }

  /** A node received the outcome of its operation; undefined if it received none. */
  noteAnswer(operation: LedgerOperation, told: OutcomeOf<LedgerOperation> | undefined): void {
    if (told === undefined || !("id" in operation)) return;
    const { outcome } = told;
    if (operation.kind === "hold" && (outcome === "held" || outcome === "exists")) {
      this.know(workOf(operation.id)).held = operation.amount;
      const { id, parent } = operation;
      if (parent !== undefined && workOf(id) === id) this.#series.set(parent, [...this.worksIn(parent), id]);
    }
    if (operation.kind === "move" && outcome === "moved") this.know(workOf(operation.id)).held = operation.amount;
    if (operation.kind === "top-up" && (outcome === "raised" || outcome === "exists")) {
      const known = this.know(workOf(operation.id));
      if (operation.amount > known.held) known.held = operation.amount;
    }
  }

  /**
   * Before anything of a work passes, what has passed must cost less than is held. A hold of `enough` may be exceeded: it
   * covers the input and the limit, and no more has passed than text within the limit can have.
   */
  checkPassing(id: string, costBefore: Nano, enough?: Nano): void {
    const { held } = this.know(id);
    const isCovered = costBefore < held || (enough !== undefined && held >= enough);
    this.expect(isCovered, () => `${id}: more passed (${costBefore}) than was held (${held})`);
  }
}

/** The work of a hold: those that replace an expired one have its id with an ending. */
export function workOf(holdId: string): string {
  const at = holdId.indexOf(":");
  return at === -1 ? holdId : holdId.slice(0, at);
}

export function codeOf(reason: unknown): string {
  return reason instanceof GatewayError ? reason.code : String(reason);
}
