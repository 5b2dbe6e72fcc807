import type { DailySums } from "./daily-sums.ts";
import type { LedgerStatements } from "./statements.ts";

/**
 * The maximum number of calls waiting for the index, beyond those of one commit: a fraction of a millisecond's work.
 */
const WAITING_MAX = 128;

/**
 * The index of calls by owner and time, and the sums by day, filled many calls at a time: a further row in each call's
 * own commit would change one more page. Entries after the mark are in neither yet; readers scan those as well.
 */
export class CallsByOwner {
  readonly #sql: LedgerStatements;
  readonly #sums: DailySums;
  /** The last indexed entry; undefined if it must be read. */
  #mark: bigint | undefined;

  constructor(sql: LedgerStatements, sums: DailySums) {
    this.#sql = sql;
    this.#sums = sums;
  }

  /** Clears the cached state. */
  clear(): void {
    this.#mark = undefined;
    this.#sums.clear();
  }

  /** Indexes the waiting calls if there are enough. Call it with the last entry, within its transaction. */
  fill(last: bigint): void {
    this.#mark ??= this.#sql.mark.get()?.number ?? 0n;
    if (last - this.#mark >= WAITING_MAX) this.fillAll(last);
  }

  /** Indexes all waiting calls. Call it with the last entry, within a transaction. */
  fillAll(last: bigint): void {
    const mark = this.#sql.mark.get()?.number ?? 0n;
    if (last > mark) {
      this.#sql.indexCalls.run(mark, last);
      this.#sums.fill(mark, last);
      this.#sql.moveMark.run(last);
    }
    this.#mark = last > mark ? last : mark;
  }

  /** Whether the call is in the index and in the sums. */
  has(number: bigint): boolean {
    return number <= (this.#sql.mark.get()?.number ?? 0n);
  }

  /** Applies `change` to a call; it may change the owner or the time. */
  rewrite(number: bigint, change: () => void): void {
    this.#sql.unindexCall.run(number);
    change();
    this.#sql.indexCall.run(number);
  }
}
