import type { LedgerStatements } from "./statements.ts";

/**
 * The maximum number of calls waiting for the index, beyond those of one commit: a fraction of a millisecond's work.
 */
const WAITING_MAX = 128;

/**
 * The index of calls by owner and time, filled many calls at a time: a further row in each call's own commit would
 * change one more page. Entries after its mark are not indexed yet; readers by owner scan those as well.
 */
export class CallsByOwner {
  readonly #sql: LedgerStatements;
  /** The last indexed entry; undefined if it must be read. */
  #mark: bigint | undefined;

  constructor(sql: LedgerStatements) {
    this.#sql = sql;
  }

  /** Clears the cached state. */
  clear(): void {
    this.#mark = undefined;
  }

  /** Indexes the waiting calls if there are enough. Call it with the last entry, within its transaction. */
  fill(last: bigint): void {
    this.#mark ??= this.#sql.mark.get()?.number ?? 0n;
    if (last - this.#mark < WAITING_MAX) return;
    this.#sql.indexCalls.run(this.#mark, last);
    this.#sql.moveMark.run(last);
    this.#mark = last;
  }

  /** Applies `change` to a call; it may change the owner or the time. */
  rewrite(number: bigint, change: () => void): void {
    this.#sql.unindexCall.run(number);
    change();
    this.#sql.indexCall.run(number);
  }
}
