import { EndJournal, type WorkDependencies } from "../../../src/charges/index.ts";
import { type LedgerOperation, type Release, type Settle, startSweeper } from "../../../src/ledger/index.ts";
import { Ticker } from "../../../src/streaming/index.ts";
import { FaultyStore, type Fate } from "./faulty-store.ts";
import type { Span } from "./meetings.ts";
import { TracedLedger } from "./traced-ledger.ts";
import { codeOf, workOf, type World } from "./world.ts";

/** The journal of a process, without a disk. */
class JournalInMemory extends EndJournal {
  readonly #ends = new Map<string, Settle | Release>();
  /** Whether the disk refuses to write. */
  isFull = false;

  constructor() {
    super("");
  }

  override has(id: string): boolean {
    return this.#ends.has(id);
  }

  override async write(end: Settle | Release): Promise<void> {
    if (this.isFull) throw new Error("the disk is full");
    this.#ends.set(end.id, end);
  }

  override async remove(id: string): Promise<void> {
    this.#ends.delete(id);
  }

  get ids(): string[] {
    return [...this.#ends.keys()];
  }
}

const spans: Partial<Record<LedgerOperation["kind"], Span>> = {
  renew: "renewal",
  "top-up": "top-up",
  settle: "end",
  release: "end",
};

/** One process of the gateway, as far as paid work needs it: a ledger, a ticker, a journal and a sweeper. */
export class Node {
  readonly name: string;
  readonly ledger: TracedLedger;
  readonly ticker: Ticker;
  readonly journal = new JournalInMemory();
  readonly deps: WorkDependencies;
  readonly #world: World;
  readonly #stopSweeper: () => void;
  /** The process is stopped until then, as by a debugger or a suspended machine. */
  #pausedUntil = 0;
  /** How long it was stopped in all, in milliseconds, at most. */
  stoppedMs = 0;
  /** Operations that the ledger has not answered. */
  #unanswered = 0;

  constructor(world: World, name: string) {
    this.#world = world;
    this.name = name;
    const clock = (): number => {
      world.countCall();
      return world.time.now;
    };
    this.ledger = new TracedLedger(
      { store: this.#store(), clock },
      {
        begun: (operation) => this.#onBegun(operation),
        answered: (operation, outcome) => {
          world.noteAnswer(operation, outcome);
          this.#onAnswered(operation, outcome?.outcome);
        },
      },
    );
    this.ticker = new Ticker(world.options.tickMs, clock, {
      every: (milliseconds, onDue) =>
        this.#every(milliseconds, () => {
          world.meetings.happenToAll("tick");
          onDue();
        }),
    });
    this.deps = {
      ledger: this.ledger,
      ticker: this.ticker,
      clock,
      openAnswers: { add: () => undefined, remove: () => undefined },
      onUnsettled: (id, reason) => world.trace(`${id}: unsettled, ${codeOf(reason)}`),
      unsettled: new Map(),
      journal: this.journal,
      observer: { ended: ({ order, credits }) => world.noteEnd(order.id, credits) },
    };
    this.#stopSweeper = startSweeper({
      ledger: this.ledger,
      clock,
      every: (milliseconds, onDue) => this.#every(milliseconds, onDue),
      onExpired: (count) => world.trace(`node ${name}: ${count} holds expired`),
      onError: (reason) => world.trace(`node ${name}: no sweep, ${codeOf(reason)}`),
    });
  }

  #store(): FaultyStore {
    const world = this.#world;
    const { meetings } = world;
    return new FaultyStore({
      inner: world.inner,
      random: world.random,
      weather: () => world.weather,
      after: (milliseconds, run) => void this.after(milliseconds, run),
      onCommit: (operations, fate) => {
        meetings.beginForAll("commit");
        this.#noteFate(operations, fate);
      },
      onApplied: (operations, outcomes) => world.noteApplied(operations, outcomes),
      onAnswer: () => meetings.endForAll("commit"),
    });
  }

  #noteFate(operations: readonly LedgerOperation[], fate: Fate): void {
    if (fate === "kept") return;
    const { meetings } = this.#world;
    for (const operation of operations) {
      if ("id" in operation)
        meetings.happen(this.#world.subjectOf(operation.id), fate === "lost" ? "lost answer" : "refused commit");
    }
  }

  #onBegun(operation: LedgerOperation): void {
    const { meetings } = this.#world;
    this.#unanswered += 1;
    if (operation.kind === "hold" && operation.parent !== undefined)
      this.#world.know(workOf(operation.id), operation.parent);
    const span = spans[operation.kind];
    if (span === undefined || !("id" in operation)) return;
    const subject = this.#world.subjectOf(operation.id);
    if (span === "top-up" && meetings.isOpen(subject, "top-up pause")) meetings.end(subject, "top-up pause");
    meetings.begin(subject, span);
  }

  #onAnswered(operation: LedgerOperation, outcome: string | undefined): void {
    const { meetings } = this.#world;
    this.#unanswered -= 1;
    const span = spans[operation.kind];
    if (span === undefined || !("id" in operation)) return;
    const subject = this.#world.subjectOf(operation.id);
    this.#world.trace(`${operation.id}: ${operation.kind} ${outcome ?? "unanswered"}`);
    this.#world.expect(
      outcome !== "conflict" || this.#world.know(workOf(operation.id)).endsTwice,
      () => `${operation.id}: a ${operation.kind} was refused, since the work had ended otherwise`,
    );
    meetings.end(subject, span);
    if (span === "top-up" && outcome === undefined && !meetings.isOpen(subject, "top-up pause")) {
      meetings.begin(subject, "top-up pause");
    }
  }

  /** Whether the end of a work is durable: in the store, or in this node's journal. */
  isDurable(id: string): boolean {
    return this.#world.know(workOf(id)).isEnded || this.journal.has(id);
  }

  /** Whether nothing of it waits to be committed. */
  get isSettled(): boolean {
    const isInJournal = this.journal.ids.some((id) => !this.#world.know(workOf(id)).endsTwice);
    return this.#unanswered === 0 && this.deps.unsettled.size === 0 && !isInJournal;
  }

  /** The operations that wait to be committed, for a finding. */
  get left(): string {
    const { unsettled } = this.deps;
    return `${this.name}: ${this.#unanswered} unanswered, unsettled ${[...unsettled.keys()].join(" ")}, in the journal ${this.journal.ids.join(" ")}`;
  }

  /** Nothing happens on the node for so long: no tick, no byte, no answer of the store. */
  pause(milliseconds: number): void {
    this.#world.trace(`node ${this.name}: stopped for ${milliseconds} ms`);
    this.#pausedUntil = this.#world.time.now + milliseconds;
    this.stoppedMs += milliseconds;
  }

  /** Calls back on this node, or when it is not stopped any more. Returns a function that cancels it. */
  after(milliseconds: number, run: () => void): () => void {
    const { time } = this.#world;
    let cancel = time.after(milliseconds, () => {
      const wait = this.#pausedUntil - time.now;
      if (wait > 0) cancel = this.after(wait, run);
      else run();
    });
    return () => cancel();
  }

  #every(milliseconds: number, onDue: () => void): () => void {
    let cancel = (): void => undefined;
    const next = (): void => {
      cancel = this.after(milliseconds, () => {
        next();
        onDue();
      });
    };
    next();
    return () => cancel();
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, resolve));
  }

  stop(): void {
    this.#stopSweeper();
    this.ticker.stop();
  }
}
