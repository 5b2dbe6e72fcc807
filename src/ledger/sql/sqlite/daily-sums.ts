import { type Calendar, inputTokens, type Nano, outputTokens, parseObject } from "../../../core/index.ts";
import { type StoredCall, tagsColumn } from "../generations.ts";
import { firstTokenColumns, unitColumns, unitsOf } from "../sums/sum-columns.ts";
import type { CountedCallRow, LedgerStatements, SumKey } from "./statements.ts";
import { type AppendedEntry, failuresOf, WaitingSums } from "./waiting-sums.ts";

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
  /** Those of the calls after the mark; undefined while some of them may be unknown here. In other zones than UTC they are not kept. */
  #waiting: WaitingSums | undefined;

  constructor(sql: LedgerStatements, calendar: Calendar) {
    this.#sql = sql;
    this.#calendar = calendar;
  }

  /** Clears the cached state. */
  clear(): void {
    this.#days = undefined;
    this.#waiting = undefined;
  }

  /** Notes an entry that was appended. */
  append(entry: AppendedEntry, call: StoredCall | undefined): void {
    this.#waiting?.add(entry, call, (at) => this.#calendar.dayOf(at));
  }

  /** Counts the entries after `mark`, up to `last`. */
  fill(mark: bigint, last: bigint): void {
    if (this.#calendar.zone === "UTC") {
      const waiting = this.#waiting?.of(last - mark);
      this.#waiting = new WaitingSums();
      if (waiting !== undefined) {
        for (const { key, amounts, rows } of waiting) this.#change(key, amounts, rows);
        return;
      }
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
    const { columns, rows } = unitsOf(usage, millisecondsToFirstByte ?? null);
    this.#change(key, [...amounts, ...columns], rows);
  }

  /** Takes back a call that was counted. */
  subtract(call: CountedCallRow): void {
    const { input_tokens: input, output_tokens: output, credits } = call;
    const { columns, rows } = unitsOf(parseObject(call.usage) ?? {}, call.first_byte_ms);
    const amounts = [-1, -failuresOf(call), -input, -output, -credits, -(call.list_credits ?? 0n)];
    const lessRows = rows.map(([bucket, units]): Units => [bucket, -units]);
    this.#change(this.#keyOf(call), [...amounts, ...columns.map((amount) => -amount)], lessRows);
  }

  /** Adds a difference to the cost of a call that was counted. */
  correct(call: CountedCallRow, credits: Nano): void {
    this.#change(this.#keyOf(call), [0, 0, 0, 0, credits, 0, ...NO_UNITS], []);
  }

  #keyOf({ owner, started_at: at, account_id: account, provider, model, operation, tags }: PlacedCall): SumKey {
    return [owner, this.#calendar.dayOf(Number(at)), account, provider, model, operation, tags ?? ""];
  }

  /** `amounts`: in the order of `sumColumns`. */
  #change(key: SumKey, amounts: readonly (number | bigint)[], rows: readonly Units[]): void {
    this.#sql.addSum.run(...key, ...amounts);
    for (const [bucket, units] of rows) this.#sql.addUnits.run(...key, bucket, units);
  }
}

/** The columns of a call that its sum is found by. */
type PlacedCall = Pick<CountedCallRow, "owner" | "account_id" | "provider" | "model" | "operation" | "tags"> & {
  started_at: number | bigint;
};

/** The units of a bucket without a column. */
type Units = [bucket: string, units: bigint];

const NO_UNITS: readonly bigint[] = [...unitColumns, ...firstTokenColumns].map(() => 0n);
