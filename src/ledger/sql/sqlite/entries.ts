import type { Nano } from "../../../core/index.ts";
import type { EntryKind, EntryRow, LedgerStatements } from "./statements.ts";

export interface Entry {
  id: string;
  kind: EntryKind;
  debit: string;
  credit: string;
  amount: Nano;
  held: Nano;
  shortfall: Nano;
  at: number;
  /** The number of the call that it ends. */
  call?: bigint | undefined;
}

/** Text that JavaScript and SQLite put in the same order. */
const PRINTABLE_ASCII = /^[ -~]*$/;

/** The books. */
export class Entries {
  readonly #sql: LedgerStatements;
  /** An id that none is behind; undefined where it must be read. */
  #last: string | undefined;

  constructor(sql: LedgerStatements) {
    this.#sql = sql;
  }

  /** Forgets what is in memory. */
  clear(): void {
    this.#last = undefined;
  }

  find(id: string): EntryRow | undefined {
    return this.#sql.entry.get(id) ?? undefined;
  }

  /** Ids of requests begin with their moment, so that a new one mostly is behind all that have ended: no look is needed. */
  has(id: string): boolean {
    this.#last ??= this.#sql.lastEntry.get()?.id ?? "";
    if (id > this.#last && PRINTABLE_ASCII.test(id)) return false;
    return this.#sql.entry.get(id) !== null;
  }

  insert({ id, kind, debit, credit, amount, held, shortfall, at, call }: Entry): void {
    this.#sql.insertEntry.run(id, kind, debit, credit, amount, held, shortfall, at, call ?? null);
    if (this.#last !== undefined && id > this.#last) this.#last = id;
  }
}
