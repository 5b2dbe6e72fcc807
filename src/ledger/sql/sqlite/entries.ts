import type { Nano } from "../../../core/index.ts";
import { type CallBudgets, storedBudgets } from "../call-budgets.ts";
import { generationColumns, generationValues, type StoredCall } from "../generations.ts";
import type { CallsByOwner } from "./calls-by-owner.ts";
import type { DailySums } from "./daily-sums.ts";
import type { CallValue, CountedCallRow, StoredEntryKind, EntryRow, LedgerStatements } from "./statements.ts";

export interface Entry {
  id: string;
  kind: StoredEntryKind;
  debit: string;
  credit: string;
  amount: Nano;
  held: Nano;
  shortfall: Nano;
  at: number;
  /** The expiry that a late end corrects, with its shortfall; or the charge that a refund gives back, without. */
  corrects?: { created_at: bigint; shortfall?: bigint } | undefined;
  /** Of a grant or a refund. */
  actor?: string | undefined;
  reason?: string | undefined;
  budgets?: CallBudgets;
}

/**
 * Entries are in the order of their commits, each with the time of its process. One with an earlier time than another before it is late
 * if they differ by more than this.
 */
export const LATE_MS = 3_600_000;

/** Text that JavaScript and SQLite sort in the same order. */
const PRINTABLE_ASCII = /^[ -~]*$/;

/** The entries, including the records of the calls that they ended. */
export class Entries {
  readonly #sql: LedgerStatements;
  readonly #callsByOwner: CallsByOwner;
  readonly #sums: DailySums;
  /** The largest id of all entries; undefined if it must be read. */
  #last: string | undefined;
  /** The latest time of the last entries that are not late; undefined if it must be read. */
  #latestAt: number | undefined;
  /** The number of the last entry appended by this transaction. */
  #appended: bigint | undefined;

  constructor(sql: LedgerStatements, callsByOwner: CallsByOwner, sums: DailySums) {
    this.#sql = sql;
    this.#callsByOwner = callsByOwner;
    this.#sums = sums;
  }

  /** Clears the cached state. */
  clear(): void {
    this.#last = undefined;
    this.#latestAt = undefined;
    this.#appended = undefined;
    this.#callsByOwner.clear();
  }

  find(id: string): EntryRow | undefined {
    return this.#sql.entry.get(id) ?? undefined;
  }

  /** Request ids begin with their time, so a new one is mostly larger than all ended ones and needs no look-up. */
  has(id: string): boolean {
    this.#last ??= this.#sql.lastEntry.get()?.id ?? "";
    if (id > this.#last && PRINTABLE_ASCII.test(id)) return false;
    return this.#sql.entry.get(id) !== null;
  }

  /** Appends an entry, including the record of the call that it ends. */
  insert(entry: Entry, call?: StoredCall): void {
    const { id, kind, debit, credit, amount, held, shortfall, at, corrects, actor, reason, budgets } = entry;
    const { lastInsertRowid } = this.#sql.insertEntry.run(
      id,
      kind,
      debit,
      credit,
      amount,
      held,
      shortfall,
      at,
      corrects?.created_at ?? null,
      corrects?.shortfall ?? null,
      actor ?? null,
      reason ?? null,
      storedBudgets(budgets),
      ...(call === undefined ? NO_CALL : generationValues(call)),
    );
    this.#appended = BigInt(lastInsertRowid);
    this.#sums.append(entry, call);
    this.#noteTime(this.#appended, at);
    if (this.#last !== undefined && id > this.#last) this.#last = id;
  }

  #noteTime(number: bigint, at: number): void {
    this.#latestAt ??= Number(this.#sql.latestEntry.get()?.created_at ?? at);
    if (at > this.#latestAt) this.#latestAt = at;
    else if (at < this.#latestAt - LATE_MS) this.#sql.insertLate.run(number, at, this.#latestAt);
  }

  /** Replaces the record that an expiry wrote with the call's own, and its total cost. */
  replaceCall({ number, debit_account: account }: EntryRow, call: StoredCall, credits: Nano): void {
    const before = this.#countedCall(number);
    if (before !== undefined) this.#sums.subtract(before);
    if (this.#callsByOwner.has(number)) this.#sums.add(account, call, credits);
    this.#callsByOwner.rewrite(number, () => this.#sql.replaceCall.run(...generationValues(call), credits, number));
  }

  correctCredits({ number }: EntryRow, credits: Nano): void {
    const before = this.#countedCall(number);
    if (before !== undefined) this.#sums.correct(before, credits - before.credits);
    this.#sql.correctCredits.run(credits, number);
  }

  /** The call of an entry, if the sums contain it. */
  #countedCall(number: bigint): CountedCallRow | undefined {
    if (!this.#callsByOwner.has(number)) {
      // It waits to be counted, and will be another one by then.
      this.#sums.clear();
      return undefined;
    }
    return this.#sql.countedCall.get(number) ?? undefined;
  }

  /** Call it last within a transaction. */
  flush(): void {
    if (this.#appended !== undefined) this.#callsByOwner.fill(this.#appended);
    this.#appended = undefined;
  }
}

const NO_CALL: readonly CallValue[] = generationColumns.map(() => null);
