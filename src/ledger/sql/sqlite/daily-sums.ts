import { type Calendar, inputTokens, type Nano, outputTokens, parseObject } from "../../../core/index.ts";
import { type StoredCall, tagsColumn } from "../generations.ts";
import { firstTokenColumns, unitColumns, unitsOf } from "../sums/sum-columns.ts";
import type { CountedCallRow, LedgerStatements, SumKey } from "./statements.ts";

/**
 * The sums of calls by the day on which they began. Those up to the mark of `calls_by_owner` are counted, together with
 * the index: a row of sums in each call's own commit would change one more page, which costs as much as a twentieth of
 * a call. Readers add the calls after the mark.
 */
export class DailySums {
  readonly #sql: LedgerStatements;
  readonly #calendar: Calendar;
  /** The days whose starts are stored, for zones other than UTC. */
  #days: { from: number; to: number } | undefined;

  constructor(sql: LedgerStatements, calendar: Calendar) {
    this.#sql = sql;
    this.#calendar = calendar;
  }

  /** Clears the cached state. */
  clear(): void {
    this.#days = undefined;
  }

  /** Counts the entries after `mark`, up to `last`. */
  fill(mark: bigint, last: bigint): void {
    if (this.#calendar.zone === "UTC") {
      this.#sql.sumCallsUtc.run(mark, last);
      this.#sql.sumUnitsUtc.run(mark, last);
      return;
    }
    const range = this.#sql.startsOfCalls.get(mark, last);
    if (range === null || range.first === null || range.last === null) return;
    this.#storeDays(this.#calendar.dayOf(Number(range.first)), this.#calendar.dayOf(Number(range.last)));
    this.#sql.sumCalls.run(mark, last);
    this.#sql.sumUnits.run(mark, last);
  }

  /** The sums find a call's day by the last start that is not after it. */
  #storeDays(from: number, to: number): void {
    if (this.#days !== undefined && this.#days.from <= from && this.#days.to >= to) return;
    for (let day = from; day <= to; day += 1) this.#sql.storeDay.run(this.#calendar.startOfDay(day), day);
    this.#days = { from, to };
  }

  /** Counts one call of the account. */
  add(account: string, call: StoredCall, credits: Nano): void {
    const { usage, startedAt, millisecondsToFirstByte, listCredits = 0 } = call;
    const key = this.#keyOf({ ...call, account_id: account, started_at: startedAt, tags: tagsColumn(call) });
    const amounts = [1, failuresOf(call), inputTokens(usage), outputTokens(usage), credits, listCredits];
    this.#change(key, amounts, unitsOf(usage, millisecondsToFirstByte ?? null));
  }

  /** Takes back a call that was counted. */
  subtract(call: CountedCallRow): void {
    const { input_tokens: input, output_tokens: output, credits } = call;
    const { columns, rows } = unitsOf(parseObject(call.usage) ?? {}, call.first_byte_ms);
    this.#change(this.#keyOf(call), [-1, -failuresOf(call), -input, -output, -credits, -(call.list_credits ?? 0n)], {
      columns: columns.map((amount) => -amount),
      rows: rows.map(([bucket, units]) => [bucket, -units]),
    });
  }

  /** Adds a difference to the cost of a call that was counted. */
  correct(call: CountedCallRow, credits: Nano): void {
    this.#change(this.#keyOf(call), [0, 0, 0, 0, credits, 0], NO_UNITS);
  }

  #keyOf({ owner, started_at: at, account_id: account, provider, model, operation, tags }: PlacedCall): SumKey {
    return [owner, this.#calendar.dayOf(Number(at)), account, provider, model, operation, tags ?? ""];
  }

  #change(key: SumKey, amounts: readonly (number | bigint)[], { columns, rows }: ReturnType<typeof unitsOf>): void {
    this.#sql.addSum.run(...key, ...amounts, ...columns);
    for (const [bucket, units] of rows) this.#sql.addUnits.run(...key, bucket, units);
  }
}

/** The columns of a call that its sum is found by. */
type PlacedCall = Pick<CountedCallRow, "owner" | "account_id" | "provider" | "model" | "operation" | "tags"> & {
  started_at: number | bigint;
};

const NO_UNITS: ReturnType<typeof unitsOf> = {
  columns: [...unitColumns, ...firstTokenColumns].map(() => 0n),
  rows: [],
};

/** 1 for a call that has failed. */
export const failuresOf = ({ outcome }: { outcome: string }): number =>
  outcome === "complete" || outcome === "abandoned" ? 0 : 1;
