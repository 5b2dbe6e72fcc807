import { sql, type Statement } from "../../storage/index.ts";
import type { SeriesQuery, UsageGrouping } from "../store.ts";
import { RECORD } from "./rows.ts";

/** An owner's calls that began, or days, from a moment on and before another. */
export interface Range {
  owner: string;
  from: number;
  to: number;
}

/** The statements in which the engines differ. */
export interface CallStatements {
  series: (range: Range, query: SeriesQuery) => Statement;
  /** The time of the last call of a batch that begins with the range. */
  last: (range: Range, batchRows: number) => Statement;
  /** The sums of the calls, which are all of one day. */
  summed: (range: Range, groupBy: UsageGrouping, day: string) => Statement;
  /** The sums of days; on SQLite also the calls between two moments that are not in these sums yet. */
  days: (days: Range, groupBy: UsageGrouping, between: Range) => Statement;
}

const SUMS = sql`CAST(sum(input_tokens) AS bigint) AS input_tokens, CAST(sum(output_tokens) AS bigint) AS output_tokens,
  CAST(sum(credits) AS bigint) AS credits`;

/** The group of a row; it ends with that of a grouping by days. */
const keyOf = (groupBy: UsageGrouping): Statement => sql`CASE CAST(${groupBy} AS text)
  WHEN 'model' THEN provider || '/' || model WHEN 'token' THEN account_id ELSE`;

/** The same of the calls themselves: the sums of days do not know sessions. */
const keyOfCall = (groupBy: UsageGrouping, day: string): Statement => sql`CASE CAST(${groupBy} AS text)
  WHEN 'model' THEN provider || '/' || model WHEN 'token' THEN account_id WHEN 'session' THEN coalesce(session, '')
  ELSE CAST(${day} AS text) END`;

const daysOf = ({ owner, from, to }: Range, groupBy: UsageGrouping): Statement => sql`
  SELECT ${keyOf(groupBy)} CAST(day AS text) END AS key, NULL AS started_at, CAST(sum(requests) AS bigint) AS requests, ${SUMS}
  FROM daily_sums WHERE owner = ${owner} AND day >= ${from} AND day < ${to} GROUP BY 1`;

const began = ({ owner, from, to }: Range): Statement =>
  sql`owner = ${owner} AND started_at >= ${from} AND started_at < ${to}`;

export const postgresCalls: CallStatements = {
  series: (range, { parent, after, limit }) => sql`SELECT ${RECORD} FROM generations
    WHERE ${began(range)} AND parent = ${parent} AND id > ${after} ORDER BY id LIMIT ${limit}`,
  last: (range, batchRows) => sql`SELECT started_at AS last FROM generations WHERE ${began(range)}
    ORDER BY started_at LIMIT 1 OFFSET ${batchRows - 1}`,
  summed: (range, groupBy, day) => sql`
    SELECT ${keyOfCall(groupBy, day)} AS key, NULL AS started_at, count(*) AS requests, ${SUMS}
    FROM generations WHERE ${began(range)} GROUP BY 1`,
  days: daysOf,
};

/** Calls that are not yet in the index by owner, nor in the sums of their days. */
const WAITING = sql`number > (SELECT number FROM calls_by_owner_mark)`;

const numbersOf = (range: Range): Statement => sql`(
  SELECT started_at AS started, number AS place FROM calls_by_owner WHERE ${began(range)}
  UNION ALL SELECT started_at, number FROM generations WHERE ${WAITING} AND ${began(range)}) AS owned`;

const callsOf = (range: Range): Statement => sql`${numbersOf(range)} CROSS JOIN generations
  ON number = place AND owner = ${range.owner} AND started_at = started`;

export const sqliteCalls: CallStatements = {
  series: (range, { parent, after, limit }) => sql`SELECT ${RECORD} FROM ${callsOf(range)}
    WHERE parent = ${parent} AND id > ${after} ORDER BY id LIMIT ${limit}`,
  last: (range, batchRows) => sql`SELECT started AS last FROM ${numbersOf(range)}
    ORDER BY started LIMIT 1 OFFSET ${batchRows - 1}`,
  summed: (range, groupBy, day) => sql`
    SELECT ${keyOfCall(groupBy, day)} AS key, NULL AS started_at, count(*) AS requests, ${SUMS}
    FROM ${callsOf(range)} GROUP BY 1`,
  // In one statement, which sees one moment: the calls wait until the mark moves.
  days: (days, groupBy, between) => sql`${daysOf(days, groupBy)}
    UNION ALL SELECT ${keyOf(groupBy)} '' END, started_at, 1, input_tokens, output_tokens, credits
    FROM generations WHERE ${WAITING} AND ${began(between)}`,
};
