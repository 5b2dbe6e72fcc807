import { inputTokens, keysOf, type Nano, outputTokens, type UsageBucket } from "../../../core/index.ts";
import { type StoredCall, tagsColumn } from "../generations.ts";
import { callSums, columnBuckets, firstTokenOf, sumColumns, unitColumns, WITHOUT_ROWS } from "../sums/sum-columns.ts";
import type { SumKey } from "./statements.ts";

/** An entry as it was appended, with its call if it has one. */
export interface AppendedEntry {
  /** The account that it debits. */
  debit: string;
  amount: Nano;
}

interface WaitingSum {
  key: SumKey;
  /** In the order of `sumColumns`. */
  amounts: number[];
  /** Units of the buckets without a column. */
  rows: Map<string, number>;
}

/** Where the units of a bucket are counted, by their place among `sumColumns`. */
const places: ReadonlyMap<string, number> = new Map(
  columnBuckets.map((bucket, index) => [bucket, callSums.length + index]),
);

const FIRST_TOKENS = callSums.length + unitColumns.length;

const withoutRows: ReadonlySet<string> = new Set(WITHOUT_ROWS);

/**
 * The sums of the calls that were appended since the last ones were counted, by their day in UTC: adding one here costs a tenth of
 * reading it from its row again. What cannot be counted exactly so is left to the rows.
 */
export class WaitingSums {
  readonly #sums = new Map<string, WaitingSum>();
  /** The appended entries, also those without a call. */
  #entries = 0;
  #isExact = true;

  /** Adds an entry. `dayOf`: the day of a time. */
  add({ debit, amount }: AppendedEntry, call: StoredCall | undefined, dayOf: (at: number) => number): void {
    this.#entries += 1;
    if (call === undefined) return;
    const { usage, listCredits = 0, millisecondsToFirstByte: firstMs } = call;
    const { amounts, rows } = this.#sumOf(debit, call, dayOf(call.startedAt));
    const counts = [1, failuresOf(call), inputTokens(usage), outputTokens(usage), Number(amount), listCredits];
    for (let place = 0; place < counts.length; place += 1) grow(amounts, place, counts[place] ?? 0);
    for (const bucket of keysOf<UsageBucket>(usage)) {
      const units = usage[bucket] ?? 0;
      const place = places.get(bucket);
      if (!Number.isInteger(units)) this.#isExact = false;
      else if (place !== undefined) grow(amounts, place, units);
      else if (units > 0 && !withoutRows.has(bucket)) rows.set(bucket, (rows.get(bucket) ?? 0) + units);
    }
    if (firstMs === undefined) return;
    const first = firstTokenOf(firstMs);
    grow(amounts, FIRST_TOKENS + first.place, first.amount);
  }

  /** All sums, if they are of so many entries and exact; undefined otherwise. */
  of(entries: bigint): { key: SumKey; amounts: bigint[]; rows: [bucket: string, units: bigint][] }[] | undefined {
    if (!this.#isExact || BigInt(this.#entries) !== entries) return undefined;
    const sums = [...this.#sums.values()];
    const isExact = sums.every(({ amounts, rows }) => [...amounts, ...rows.values()].every(Number.isSafeInteger));
    if (!isExact) return undefined;
    return sums.map(({ key, amounts, rows }) => ({
      key,
      amounts: amounts.map(BigInt),
      rows: [...rows].map(([bucket, units]) => [bucket, BigInt(units)]),
    }));
  }

  #sumOf(account: string, call: StoredCall, day: number): WaitingSum {
    const { owner, provider, model, operation } = call;
    const tags = tagsColumn(call) ?? "";
    const name = `${owner}\n${day}\n${account}\n${provider}\n${model}\n${operation}\n${tags}`;
    const known = this.#sums.get(name);
    if (known !== undefined) return known;
    const key: SumKey = [owner, day, account, provider, model, operation, tags];
    const sum = { key, amounts: sumColumns.map(() => 0), rows: new Map<string, number>() };
    this.#sums.set(name, sum);
    return sum;
  }
}

function grow(amounts: number[], place: number, by: number): void {
  amounts[place] = (amounts[place] ?? 0) + by;
}

/** 1 for a call that has failed. */
export const failuresOf = ({ outcome }: { outcome: string }): number =>
  outcome === "complete" || outcome === "abandoned" ? 0 : 1;
