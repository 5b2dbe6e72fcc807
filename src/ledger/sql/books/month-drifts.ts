import type { Drift } from "../../books.ts";
import type { SumRow } from "./rows.ts";
import { SUM_DRIFTS_MAX, type Sums, sumDrifts, usageCounters } from "./sum-drifts.ts";

/** A sum of a month, and the sums of its days. */
export type MonthRow = SumRow & { [Name in keyof Sums as `days_${Name}`]: bigint };

const KEY = "account_id, provider, model, operation, tags";
const COLUMNS = usageCounters.map(([, column]) => column);

const sumOf = (column: string, ofMonth: 0 | 1): string =>
  `CAST(sum(CASE of_month WHEN ${ofMonth} THEN ${column} ELSE 0 END) AS bigint)`;

/**
 * Selects the months, from that of a day on, whose sums are not those of their days. `monthOf` is the engine's expression for the first day
 * of a day's month.
 */
export function differingMonths(monthOf: (day: string) => string, fromDay: number): string {
  const from = monthOf(String(fromDay));
  return `SELECT * FROM (
      SELECT owner, day, ${KEY}, ${COLUMNS.map((name) => `${sumOf(name, 1)} AS ${name}, ${sumOf(name, 0)} AS days_${name}`).join(", ")}
      FROM (
        SELECT 1 AS of_month, owner, month AS day, ${KEY}, ${COLUMNS.join(", ")} FROM monthly_sums WHERE month >= ${from}
        UNION ALL
        SELECT 0, owner, ${monthOf("day")}, ${KEY}, ${COLUMNS.join(", ")} FROM daily_sums WHERE day >= ${from}
      ) AS counted GROUP BY owner, day, ${KEY}
    ) AS compared WHERE ${COLUMNS.map((name) => `${name} <> days_${name}`).join(" OR ")} LIMIT ${SUM_DRIFTS_MAX}`;
}

export function monthDrifts(rows: readonly MonthRow[]): Drift[] {
  return rows.flatMap((row) => sumDrifts(row, row, daysOf(row), "month"));
}

function daysOf(row: MonthRow): Sums {
  return {
    requests: row.days_requests,
    failures: row.days_failures,
    input_tokens: row.days_input_tokens,
    output_tokens: row.days_output_tokens,
    credits: row.days_credits,
    list_credits: row.days_list_credits,
  };
}
