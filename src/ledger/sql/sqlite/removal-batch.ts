import type { Database } from "bun:sqlite";
import type { Calendar } from "../../../core/index.ts";
import { failuresOf } from "./waiting-sums.ts";
import type { CountedCallRow } from "./statements.ts";

/** Entries of a range of numbers that may be removed. By a clock that went back, a call may begin after its end's date. */
const REMOVABLE = "number > ?1 AND number <= ?2 AND created_at < ?3 AND coalesce(started_at, 0) < ?3";

/** Removes entries of SQLite, with their calls, some in each transaction. The sums of their days remain. */
export class RemovalBatch {
  readonly #database: Database;
  readonly #calendar: Calendar;
  readonly #before: number;
  readonly #transaction: { immediate: (after: bigint, last: bigint) => number };

  constructor(database: Database, calendar: Calendar, before: number) {
    this.#database = database;
    this.#calendar = calendar;
    this.#before = before;
    this.#transaction = database.transaction((after: bigint, last: bigint) => this.#removeRange(after, last));
  }

  /** Removes from the next `size` entries after a number those that may go. */
  remove(after: bigint, size: number): { removed: number; next: bigint } {
    const range = this.#database
      .query<{ last: bigint | null; oldest: bigint | null }, [bigint, number]>(
        `SELECT max(number) AS last, min(created_at) AS oldest
         FROM (SELECT number, created_at FROM entries WHERE number > ? ORDER BY number LIMIT ?)`,
      )
      .get(after, size);
    const next = range?.last ?? after + BigInt(size);
    const isNewer = (range?.oldest ?? BigInt(this.#before)) >= BigInt(this.#before);
    return { removed: isNewer ? 0 : this.#transaction.immediate(after, next), next };
  }

  #removeRange(after: bigint, last: bigint): number {
    const calls = this.#database
      .query<CountedCallRow, [bigint, bigint, number]>(
        `SELECT owner, started_at, account_id, provider, model, operation, tags, outcome, input_tokens, output_tokens, credits,
           list_credits FROM generations WHERE number IN (SELECT number FROM entries WHERE ${REMOVABLE})`,
      )
      .all(after, last, this.#before);
    const count = this.#database.query(
      `UPDATE daily_sums SET removed_requests = removed_requests + 1, removed_input_tokens = removed_input_tokens + ?6,
         removed_output_tokens = removed_output_tokens + ?7, removed_credits = removed_credits + ?8,
         removed_failures = removed_failures + ?9, removed_list_credits = removed_list_credits + ?10
       WHERE owner = ?1 AND day = ?2 AND account_id = ?3 AND provider = ?4 AND model = ?5 AND operation = ?11 AND tags = ?12`,
    );
    for (const { owner, started_at: at, account_id: account, provider, model, operation, ...call } of calls) {
      const day = this.#calendar.dayOf(Number(at));
      const amounts = [call.input_tokens, call.output_tokens, call.credits, failuresOf(call), call.list_credits ?? 0n];
      count.run(owner, day, account, provider, model, ...amounts, operation, call.tags ?? "");
    }
    const range = [after, last, this.#before] as const;
    this.#database
      .query(
        `DELETE FROM calls_by_owner WHERE (owner, started_at, number) IN (
           SELECT owner, started_at, number FROM entries WHERE owner IS NOT NULL AND ${REMOVABLE})`,
      )
      .run(...range);
    this.#database
      .query(`DELETE FROM late_entries WHERE number IN (SELECT number FROM entries WHERE ${REMOVABLE})`)
      .run(...range);
    return this.#database.query(`DELETE FROM entries WHERE ${REMOVABLE}`).run(...range).changes;
  }
}
