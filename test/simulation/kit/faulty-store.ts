import type {
  Account,
  AccountState,
  AuditReport,
  LedgerOperation,
  LedgerOutcome,
  LedgerStore,
  OpenHold,
} from "../../../src/ledger/index.ts";
import type { Random } from "./random.ts";

/** How the store behaves at a time. Probabilities are those of a commit. */
export interface Weather {
  name: string;
  /** Commits answer at once, in the same turn, as SQLite in this process does. */
  isSync: boolean;
  latencyMs: readonly [least: number, most: number];
  /** Nothing is committed, and the commit fails. */
  refuses: number;
  /** It is committed, but its answer is an error. */
  loses: number;
}

export interface FaultyStoreOptions {
  inner: LedgerStore;
  random: Random;
  weather: () => Weather;
  /** Calls back after this many milliseconds of the virtual clock. */
  after: (milliseconds: number, run: () => void) => void;
  onCommit: (operations: readonly LedgerOperation[], fate: Fate) => void;
  /** The operations are durable from here on, whatever their caller receives. */
  onApplied: (operations: readonly LedgerOperation[], outcomes: readonly LedgerOutcome[]) => void;
  onAnswer: () => void;
}

export type Fate = "kept" | "refused" | "lost";

/** A real store whose commits take time, fail, or succeed without an answer to their caller. */
export class FaultyStore implements LedgerStore {
  readonly #options: FaultyStoreOptions;

  constructor(options: FaultyStoreOptions) {
    this.#options = options;
  }

  get calendar(): LedgerStore["calendar"] {
    return this.#options.inner.calendar;
  }

  get books(): LedgerStore["books"] {
    return this.#options.inner.books;
  }

  commit(operations: readonly LedgerOperation[]): LedgerOutcome[] | Promise<LedgerOutcome[]> {
    const { random, weather, onCommit, onAnswer, after } = this.#options;
    const { isSync, latencyMs, refuses, loses } = weather();
    const luck = random.next();
    const fate: Fate = luck < refuses ? "refused" : luck < refuses + loses ? "lost" : "kept";
    onCommit(operations, fate);
    if (isSync) {
      try {
        return this.#perform(operations, fate);
      } finally {
        onAnswer();
      }
    }
    const total = random.int(...latencyMs);
    const until = random.int(0, total);
    return new Promise((resolve, reject) => {
      after(until, () => {
        let answer: () => void;
        try {
          const outcomes = this.#perform(operations, fate);
          answer = () => resolve(outcomes);
        } catch (reason) {
          answer = () => reject(reason instanceof Error ? reason : new Error(String(reason)));
        }
        after(total - until, () => {
          onAnswer();
          answer();
        });
      });
    });
  }

  #perform(operations: readonly LedgerOperation[], fate: Fate): LedgerOutcome[] {
    if (fate === "refused") throw new Error("the store refused the commit");
    const outcomes = this.#options.inner.commit(operations);
    if (outcomes instanceof Promise) throw new TypeError("the store in memory answers at once");
    this.#options.onApplied(operations, outcomes);
    if (fate === "lost") throw new Error("the answer of the commit was lost");
    return outcomes;
  }

  takenKey(key: Parameters<LedgerStore["takenKey"]>[0]): ReturnType<LedgerStore["takenKey"]> {
    return this.#options.inner.takenKey(key);
  }

  createAccount(account: Account, at: number): Promise<void> {
    return this.#options.inner.createAccount(account, at);
  }

  putAccount(account: Account, at: number): Promise<void> {
    return this.#options.inner.putAccount(account, at);
  }

  chain(accountId: string, at: number): Promise<AccountState[]> {
    return this.#options.inner.chain(accountId, at);
  }

  listAccounts(at: number): Promise<AccountState[]> {
    return this.#options.inner.listAccounts(at);
  }

  openHolds(): Promise<OpenHold[]> {
    return this.#options.inner.openHolds();
  }

  audit(): Promise<AuditReport> {
    return this.#options.inner.audit();
  }
}
