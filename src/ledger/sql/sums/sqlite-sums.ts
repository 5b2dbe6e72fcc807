import {
  callSums,
  columnBuckets,
  firstTokenColumns,
  firstTokenValues,
  sumColumns,
  unitColumns,
  WITHOUT_ROWS,
} from "./sum-columns.ts";

/** The first day of the month of a day, both in days since 1970-01-01. */
export const sqliteMonthOf = (day: string): string =>
  `unixepoch(${day} * 86400, 'unixepoch', 'start of month') / 86400`;

/** The day of a call in UTC. */
export const UTC_DAY = "started_at / 86400000";

/** The day of a call in any zone: the table has the starts of the days of all calls. */
export const ZONE_DAY = "(SELECT d.day FROM days d WHERE d.start <= started_at ORDER BY d.start DESC LIMIT 1)";

/** Adds the amounts of a row to those of the one with its key. */
export const adding = (columns: readonly string[]): string =>
  `ON CONFLICT DO UPDATE SET ${columns.map((name) => `${name} = ${name} + excluded.${name}`).join(", ")}`;

/** SQL of the sums of calls, in the order of `sumColumns`. */
const callAmounts: readonly string[] = [
  "count(*)",
  "sum(outcome <> 'complete' AND outcome <> 'abandoned')",
  "sum(input_tokens)",
  "sum(output_tokens)",
  "sum(credits)",
  "sum(coalesce(list_credits, 0))",
];

/** A number that is none must not prevent a charge: the columns take integers alone. */
const unitAmounts: readonly string[] = [
  ...columnBuckets.map((bucket) => `CAST(coalesce(sum(usage ->> '${bucket}'), 0) AS INTEGER)`),
  ...firstTokenValues.map((value) => `coalesce(sum(${value}), 0)`),
];

const KEY = "account_id, provider, model, operation, coalesce(tags, '') AS tags";

const unitNames = [...unitColumns, ...firstTokenColumns];

/** The calls that meet a condition, summed by an expression for their day. */
export const summedCalls = (day: string, condition: string): string => `
  SELECT owner, ${day} AS day, ${KEY}, ${[...callAmounts, ...unitAmounts]
    .map((amount, index) => `${amount} AS ${sumColumns[index]}`)
    .join(", ")}
  FROM generations WHERE ${condition} GROUP BY 1, 2, 3, 4, 5, 6, 7`;

/** Their units in buckets without a column. */
export const summedUnits = (day: string, condition: string): string => `
  SELECT owner, ${day} AS day, ${KEY}, u.key AS bucket, sum(u.value) AS units
  FROM generations, json_each(usage) u
  WHERE ${condition} AND u.type = 'integer' AND u.value > 0 AND u.key NOT IN (${WITHOUT_ROWS.map((name) => `'${name}'`).join(", ")})
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8`;

const DAY_KEY = "owner, day, account_id, provider, model, operation, tags";

export const INSERT_SUMS = `INSERT INTO daily_sums (${DAY_KEY}, ${sumColumns.join(", ")})`;

export const ADD_SUMS = adding(sumColumns);

export const INSERT_UNITS = `INSERT INTO daily_units (${DAY_KEY}, bucket, units)`;

export const ADD_UNITS = adding(["units"]);

/** The statements that count the calls that meet a condition, by an expression for their day. */
export const countingCalls = (day: string, condition: string): readonly string[] => [
  `${INSERT_SUMS} ${summedCalls(day, condition)} ${ADD_SUMS}`,
  `${INSERT_UNITS} ${summedUnits(day, condition)} ${ADD_UNITS}`,
];

/** Counts the units of the calls that meet a condition in sums that have all else of them. */
export const countUnits = (day: string, condition: string): string => `
  INSERT INTO daily_sums (${DAY_KEY}, ${[...callSums, ...unitNames].join(", ")})
  SELECT owner, ${day} AS day, ${KEY}, ${callSums.map(() => "0").join(", ")}, ${unitAmounts.join(", ")}
  FROM generations WHERE ${condition} GROUP BY 1, 2, 3, 4, 5, 6, 7 ${adding(unitNames)};
  ${INSERT_UNITS} ${summedUnits(day, condition)} ${ADD_UNITS};`;
