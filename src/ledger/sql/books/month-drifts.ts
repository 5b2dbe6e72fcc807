import type { Drift } from "../../books.ts";
import { type SumColumn, sumColumns, sumKey } from "../sums/sum-columns.ts";
import type { SumRow, UnitsRow } from "./rows.ts";
import { SUM_DRIFTS_MAX, sumDrifts, unitDrifts } from "./sum-drifts.ts";

/** A sum of a month, and the sums of its days. */
export type MonthRow = SumRow & Record<`days_${SumColumn}`, bigint>;

export type UnitsOfMonthRow = UnitsRow & { days_units: bigint };

interface Compared {
  months: string;
  days: string;
  key: readonly string[];
  columns: readonly string[];
}

const sums: Compared = { months: "monthly_sums", days: "daily_sums", key: sumKey, columns: sumColumns };

const units: Compared = {
  months: "monthly_units",
  days: "daily_units",
  key: [...sumKey, "bucket"],
  columns: ["units"],
};

const sumOf = (column: string, ofMonth: 0 | 1): string =>
  `CAST(sum(CASE of_month WHEN ${ofMonth} THEN ${column} ELSE 0 END) AS bigint)`;

/** An engine's expression for the first day of a day's month. */
type MonthOf = (day: string) => string;

function differing({ months, days, key, columns }: Compared, monthOf: MonthOf, fromDay: number): string {
  const from = monthOf(String(fromDay));
  const [keys, names] = [key.join(", "), columns.join(", ")];
  return `SELECT * FROM (
      SELECT day, ${keys}, ${columns.map((name) => `${sumOf(name, 1)} AS ${name}, ${sumOf(name, 0)} AS days_${name}`).join(", ")}
      FROM (
        SELECT 1 AS of_month, month AS day, ${keys}, ${names} FROM ${months} WHERE month >= ${from}
        UNION ALL
        SELECT 0, ${monthOf("day")}, ${keys}, ${names} FROM ${days} WHERE day >= ${from}
      ) AS counted GROUP BY day, ${keys}
    ) AS compared WHERE ${columns.map((name) => `${name} <> days_${name}`).join(" OR ")} LIMIT ${SUM_DRIFTS_MAX}`;
}

/** The statements that find the months, from that of a day on, whose sums differ from those of their days. */
export const differingMonths = (monthOf: MonthOf, fromDay: number): { sums: string; units: string } => ({
  sums: differing(sums, monthOf, fromDay),
  units: differing(units, monthOf, fromDay),
});

export function monthDrifts(rows: { sums: readonly MonthRow[]; units: readonly UnitsOfMonthRow[] }): Drift[] {
  return [
    ...rows.sums.flatMap((row) =>
      sumDrifts(row, { recorded: (column) => row[column], recomputed: (column) => row[`days_${column}`] }, "month"),
    ),
    ...rows.units.flatMap((row) => unitDrifts(row, { recorded: row.units, recomputed: row.days_units }, "month")),
  ];
}
