import { perEngine, sql, type Statement, textsIn } from "../../storage/index.ts";
import type { SeriesQuery } from "../store.ts";
import type { UsageSpan } from "../usage-parts.ts";
import type { StoredDimension } from "../usage-reader.ts";
import { isPaidBy, matches, type Matching } from "./call-pages.ts";
import { RECORD } from "./rows.ts";

/** An owner's calls that began, or days, from a moment on and before another. */
export interface Range {
  owner: string;
  from: number;
  to: number;
}

/** Whole days or months of several owners. */
export interface OwnersSpan extends UsageSpan {
  owners: readonly string[];
  /** Whether the groups are those of one owner each. */
  isByOwner: boolean;
  /** So many rows of sums are read at most, any of them. */
  rowsMax: number;
}

/** Behind a call in the list of its owner's, from the newest. */
export interface OwnPlace {
  startedAt: number;
  id: string;
}

/** The statements in which the engines differ. */
export interface CallStatements {
  series: (range: Range, query: SeriesQuery) => Statement;
  /** The time of the last call of a batch that begins with the range. */
  last: (range: Range, batchRows: number) => Statement;
  /** The time of the last call of a batch that ends with the range, from the newest. */
  newest: (range: Range, batchRows: number) => Statement;
  /** The calls of the range that are behind a place and match, from the newest. */
  page: (range: Range, place: OwnPlace, matching: Matching, limit: number) => Statement;
  /** The sums of the calls, which are all of one day. */
  summed: (range: Range, by: StoredDimensions, day: number) => Statement;
  /** The sums of days; on SQLite also the calls between two moments that are not in these sums yet. */
  days: (days: Range, by: StoredDimensions, between: Range) => Statement;
  /** The same of several owners, from days or months; \`counted\` is the number of rows of each group. */
  spans: (span: OwnersSpan, by: StoredDimensions, between: Omit<Range, "owner">) => Statement;
  /** The users that have called. */
  owners: Statement;
}

/** 1 for a call that has failed. */
const FAILURE = sql`CASE WHEN outcome <> 'complete' AND outcome <> 'abandoned' THEN 1 ELSE 0 END`;

const SUMS = sql`CAST(sum(input_tokens) AS bigint) AS input_tokens, CAST(sum(output_tokens) AS bigint) AS output_tokens,
  CAST(sum(credits) AS bigint) AS credits`;

const SUMS_OF_CALLS = sql`count(*) AS requests, CAST(sum(${FAILURE}) AS bigint) AS failures, ${SUMS},
  CAST(sum(coalesce(list_credits, 0)) AS bigint) AS list_credits`;

type StoredDimensions = readonly StoredDimension[];

/** A column, or NULL if its dimension is not asked for. */
const ifAsked = (by: StoredDimensions, dimension: StoredDimension): number => (by.includes(dimension) ? 1 : 0);

/** The values of all dimensions but the session and the end user, which the sums of days do not know. */
const valuesOf = (by: StoredDimensions): Statement => sql`
  CASE CAST(${ifAsked(by, "token")} AS bigint) WHEN 1 THEN account_id END AS account_id,
  CASE CAST(${ifAsked(by, "provider")} AS bigint) WHEN 1 THEN provider END AS provider,
  CASE CAST(${ifAsked(by, "model")} AS bigint) WHEN 1 THEN provider || '/' || model END AS model,
  CASE CAST(${ifAsked(by, "operation")} AS bigint) WHEN 1 THEN operation END AS operation,
  CASE CAST(${ifAsked(by, "tags")} AS bigint) WHEN 1 THEN coalesce(tags, '') END AS tags`;

/** NULL stands for all owners. */
const ownerIf = (isByOwner: boolean): Statement =>
  sql`CASE CAST(${isByOwner ? 1 : 0} AS bigint) WHEN 1 THEN owner END AS owner_name`;

const valuesOfCall = (by: StoredDimensions, day: number): Statement => sql`
  CASE CAST(${ifAsked(by, "day")} AS bigint) WHEN 1 THEN CAST(${day} AS bigint) END AS day,
  CASE CAST(${ifAsked(by, "session")} AS bigint) WHEN 1 THEN session END AS session,
  CASE CAST(${ifAsked(by, "end_user")} AS bigint) WHEN 1 THEN end_user END AS end_user, ${valuesOf(by)}`;

const daysOf = ({ owner, from, to }: Range, by: StoredDimensions): Statement => sql`
  SELECT NULL AS owner_name, CASE CAST(${ifAsked(by, "day")} AS bigint) WHEN 1 THEN day END AS day, NULL AS session, NULL AS end_user, ${valuesOf(by)},
    NULL AS started_at, CAST(sum(requests) AS bigint) AS requests, CAST(sum(failures) AS bigint) AS failures, ${SUMS},
    CAST(sum(list_credits) AS bigint) AS list_credits
  FROM daily_sums WHERE owner = ${owner} AND day >= ${from} AND day < ${to} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9`;

const spanSums = (
  by: StoredDimensions,
): Statement => sql`NULL AS session, NULL AS end_user, ${valuesOf(by)}, NULL AS started_at,
    count(*) AS counted, CAST(sum(requests) AS bigint) AS requests, CAST(sum(failures) AS bigint) AS failures, ${SUMS},
    CAST(sum(list_credits) AS bigint) AS list_credits`;

const IN_OWNERS = [
  perEngine({ sqlite: "owner IN (", postgres: "owner = ANY (ARRAY(" }),
  perEngine({ sqlite: ")", postgres: "))" }),
] as const;

/** Postgres looks for each element of an array in the index; of the rows of a query it would make a join with all rows of the days. */
const ofOwners = (owners: readonly string[]): Statement => sql`${IN_OWNERS[0]}${textsIn(owners)}${IN_OWNERS[1]}`;

const spanOfDays = ({ owners, from, to, isByOwner, rowsMax }: OwnersSpan, by: StoredDimensions): Statement => sql`
  SELECT ${ownerIf(isByOwner)}, CASE CAST(${ifAsked(by, "day")} AS bigint) WHEN 1 THEN day END AS day, ${spanSums(by)}
  FROM (SELECT * FROM daily_sums WHERE ${ofOwners(owners)} AND day >= ${from} AND day < ${to} LIMIT ${rowsMax}) AS piece
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9`;

const spanOfMonths = ({ owners, from, to, isByOwner, rowsMax }: OwnersSpan, by: StoredDimensions): Statement => sql`
  SELECT ${ownerIf(isByOwner)}, CASE CAST(${ifAsked(by, "day")} AS bigint) WHEN 1 THEN month END AS day, ${spanSums(by)}
  FROM (SELECT * FROM monthly_sums WHERE ${ofOwners(owners)} AND month >= ${from} AND month < ${to} LIMIT ${rowsMax}) AS piece
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9`;

/** Every user with sums, one step in the index for each. */
const OWNERS = sql`WITH RECURSIVE owners (owner) AS (
    SELECT min(owner) FROM daily_sums
    UNION ALL SELECT (SELECT min(s.owner) FROM daily_sums s WHERE s.owner > owners.owner) FROM owners
    WHERE owners.owner IS NOT NULL)
  SELECT owner FROM owners WHERE owner IS NOT NULL`;

const began = ({ owner, from, to }: Range): Statement =>
  sql`owner = ${owner} AND started_at >= ${from} AND started_at < ${to}`;

const isBehind = ({ startedAt, id }: OwnPlace): Statement => sql`(started_at < ${startedAt} OR id < ${id})`;

export const postgresCalls: CallStatements = {
  series: (range, { parent, after, limit, organisationAccount }) => sql`SELECT ${RECORD} FROM generations
    WHERE ${began(range)} AND parent = ${parent} AND id > ${after} AND ${isPaidBy(organisationAccount)} ORDER BY id LIMIT ${limit}`,
  last: (range, batchRows) => sql`SELECT started_at AS last FROM generations WHERE ${began(range)}
    ORDER BY started_at LIMIT 1 OFFSET ${batchRows - 1}`,
  newest: (range, batchRows) => sql`SELECT started_at AS last FROM generations WHERE ${began(range)}
    ORDER BY started_at DESC LIMIT 1 OFFSET ${batchRows - 1}`,
  page: (range, place, matching, limit) => sql`SELECT ${RECORD} FROM generations
    WHERE ${began(range)} AND ${isBehind(place)} AND ${matches(matching)}
    ORDER BY started_at DESC, id DESC LIMIT ${limit}`,
  summed: (range, by, day) => sql`
    SELECT NULL AS owner_name, ${valuesOfCall(by, day)}, NULL AS started_at, ${SUMS_OF_CALLS}
    FROM generations WHERE ${began(range)} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9`,
  owners: sql`${OWNERS}`,
  days: daysOf,
  spans: (span, by) => (span.unit === "days" ? spanOfDays(span, by) : spanOfMonths(span, by)),
};

/** Calls that are not yet in the index by owner, nor in the sums of their days. */
const WAITING = sql`number > (SELECT number FROM calls_by_owner_mark)`;

const numbersOf = (range: Range): Statement => sql`(
  SELECT started_at AS started, number AS place FROM calls_by_owner WHERE ${began(range)}
  UNION ALL SELECT started_at, number FROM generations WHERE ${WAITING} AND ${began(range)}) AS owned`;

const callsOf = (range: Range): Statement => sql`${numbersOf(range)} CROSS JOIN generations
  ON number = place AND owner = ${range.owner} AND started_at = started`;

/** The calls of some owners that are in no sums yet. */
const andWaiting = (
  { owners, isByOwner }: OwnersSpan,
  by: StoredDimensions,
  { from, to }: Omit<Range, "owner">,
): Statement => sql`
  UNION ALL SELECT ${ownerIf(isByOwner)}, NULL, NULL, NULL, ${valuesOf(by)}, started_at, 1, 1, ${FAILURE}, input_tokens, output_tokens,
    credits, coalesce(list_credits, 0)
  FROM generations WHERE ${WAITING} AND owner IN (${textsIn(owners)}) AND started_at >= ${from} AND started_at < ${to}`;

export const sqliteCalls: CallStatements = {
  series: (range, { parent, after, limit, organisationAccount }) => sql`SELECT ${RECORD} FROM ${callsOf(range)}
    WHERE parent = ${parent} AND id > ${after} AND ${isPaidBy(organisationAccount)} ORDER BY id LIMIT ${limit}`,
  last: (range, batchRows) => sql`SELECT started AS last FROM ${numbersOf(range)}
    ORDER BY started LIMIT 1 OFFSET ${batchRows - 1}`,
  newest: (range, batchRows) => sql`SELECT started AS last FROM ${numbersOf(range)}
    ORDER BY started DESC LIMIT 1 OFFSET ${batchRows - 1}`,
  page: (range, place, matching, limit) => sql`SELECT ${RECORD} FROM ${callsOf(range)}
    WHERE ${isBehind(place)} AND ${matches(matching)} ORDER BY started_at DESC, id DESC LIMIT ${limit}`,
  summed: (range, by, day) => sql`
    SELECT NULL AS owner_name, ${valuesOfCall(by, day)}, NULL AS started_at, ${SUMS_OF_CALLS}
    FROM ${callsOf(range)} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9`,
  // In one statement, which sees one moment: the calls wait until the mark moves.
  days: (days, by, between) => sql`${daysOf(days, by)}
    UNION ALL SELECT NULL, NULL, NULL, NULL, ${valuesOf(by)}, started_at, 1, ${FAILURE}, input_tokens, output_tokens, credits,
      coalesce(list_credits, 0)
    FROM generations WHERE ${WAITING} AND ${began(between)}`,
  spans: (span, by, between) =>
    span.unit === "days"
      ? sql`${spanOfDays(span, by)} ${andWaiting(span, by, between)}`
      : sql`${spanOfMonths(span, by)} ${andWaiting(span, by, between)}`,
  owners: sql`${OWNERS} UNION SELECT owner FROM generations WHERE ${WAITING}`,
};
