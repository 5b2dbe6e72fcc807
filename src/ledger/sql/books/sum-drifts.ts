import { dayName } from "../../../core/index.ts";
import type { Drift } from "../../books.ts";
import { callSums, firstTokenColumns, type SumColumn, sumColumns, unitColumns } from "../sums/sum-columns.ts";
import type { SumKeyRow, UnitsRow } from "./rows.ts";

/** Reported differences of sums; there may be as many as sums. */
export const SUM_DRIFTS_MAX = 1_000;

/** SQL of the columns of sums of days, without what was removed: units are compared of days alone of which nothing was. */
export const SUMS_LEFT: readonly string[] = [
  ...callSums.map((name) => `${name} - removed_${name}`),
  ...unitColumns,
  ...firstTokenColumns,
];

type Unit = "day" | "month";

function placeOf({ owner, day, provider, model, operation, tags }: SumKeyRow, unit: Unit): string {
  const date = dayName(Number(day)).slice(0, unit === "month" ? "2026-11".length : undefined);
  return `${date} ${owner} ${provider}/${model} ${operation}${tags === "" ? "" : ` ${tags}`}`;
}

/** The differences between a sum of a day and its calls, or of a month and its days; either is zero where it is missing. */
export function sumDrifts(
  key: SumKeyRow,
  { recorded, recomputed }: Record<"recorded" | "recomputed", (column: SumColumn) => bigint>,
  unit: Unit = "day",
): Drift[] {
  return sumColumns.flatMap((column): Drift[] => {
    const [is, shouldBe] = [recorded(column), recomputed(column)];
    if (is === shouldBe) return [];
    const place = placeOf(key, unit);
    return [{ accountId: key.account_id, counter: `usage_${column}`, recorded: is, recomputed: shouldBe, place }];
  });
}

/** The same of the units in one bucket. */
export function unitDrifts(
  key: Omit<UnitsRow, "units">,
  { recorded, recomputed }: Record<"recorded" | "recomputed", bigint>,
  unit: Unit = "day",
): Drift[] {
  if (recorded === recomputed) return [];
  const place = `${placeOf(key, unit)} ${key.bucket}`;
  return [{ accountId: key.account_id, counter: "usage_units", recorded, recomputed, place }];
}
