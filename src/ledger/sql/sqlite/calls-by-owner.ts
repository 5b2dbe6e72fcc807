import type { LedgerStatements } from "./statements.ts";

/** How many calls wait at most to be put into the index, but for those of one commit: a fraction of a millisecond's work. */
const WAITING_MAX = 128;

/**
 * The index of calls by their owner and moment, filled many calls at a time: a row more for each call, in its own commit,
 * would change a page more. What it doesn't have yet are the entries behind its mark; whoever reads by owner looks through
 * those too.
 */
export class CallsByOwner {
  readonly #sql: LedgerStatements;
  /** The last entry that has been put in; undefined where it must be read. */
  #mark: bigint | undefined;

  constructor(sql: LedgerStatements) {
    this.#sql = sql;
  }

  /** Forgets what is in memory. */
  clear(): void {
    this.#mark = undefined;
  }

  /** Puts in what has waited, where it is enough; to be told of the last entry, within its transaction. */
  fill(last: bigint): void {
    this.#mark ??= this.#sql.mark.get()?.number ?? 0n;
    if (last - this.#mark < WAITING_MAX) return;
    this.#sql.indexCalls.run(this.#mark, last);
    this.#sql.moveMark.run(last);
    this.#mark = last;
  }

  /** Changes a call by `change`, which may give it another owner or moment. */
  rewrite(number: bigint, change: () => void): void {
    this.#sql.unindexCall.run(number);
    change();
    this.#sql.indexCall.run(number);
  }
}
