import { joinStatements, sql, type Statement } from "../../storage/index.ts";
import type { SeriesQuery } from "../store.ts";
import { isPaidBy, matches, type Matching } from "./call-pages.ts";
import { RECORD } from "./rows.ts";
import {
  type AskedSums,
  daysOf,
  ofOwners,
  type OwnersSpan,
  type Range,
  spanOf,
  sumsOfCalls,
  withOwner,
} from "./sums.ts";

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
  /** The sums of the calls. */
  summed: (range: Range, asked: AskedSums) => Statement;
  /** The sums of days; on SQLite also the calls between two moments that are not in these sums yet. */
  days: (days: Range, asked: AskedSums, between: Range) => Statement;
  /** The same of several owners, from days or months; `counted` is the number of rows of each group. */
  spans: (span: OwnersSpan, asked: AskedSums, between: Omit<Range, "owner">) => Statement;
  /** The users that have called. */
  owners: Statement;
}

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
  summed: (range, asked) => sumsOfCalls(asked, "calls", { from: sql`generations`, condition: began(range) }),
  owners: sql`${OWNERS}`,
  days: daysOf,
  spans: spanOf,
};

/** Calls that are not yet in the index by owner, nor in the sums of their days. */
const WAITING = sql`number > (SELECT number FROM calls_by_owner_mark)`;

const numbersOf = (range: Range): Statement => sql`(
  SELECT started_at AS started, number AS place FROM calls_by_owner WHERE ${began(range)}
  UNION ALL SELECT started_at, number FROM generations WHERE ${WAITING} AND ${began(range)}) AS owned`;

const callsOf = (range: Range): Statement => sql`${numbersOf(range)} CROSS JOIN generations
  ON number = place AND owner = ${range.owner} AND started_at = started`;

/** The calls that are in no sums yet and meet a condition. */
const andWaiting = (sums: Statement, asked: Parameters<typeof sumsOfCalls>[0], condition: Statement): Statement =>
  joinStatements(
    [
      sums,
      sumsOfCalls(asked, "call", { from: sql`generations`, condition: joinStatements([WAITING, condition], " AND ") }),
    ],
    " UNION ALL ",
  );

export const sqliteCalls: CallStatements = {
  series: (range, { parent, after, limit, organisationAccount }) => sql`SELECT ${RECORD} FROM ${callsOf(range)}
    WHERE parent = ${parent} AND id > ${after} AND ${isPaidBy(organisationAccount)} ORDER BY id LIMIT ${limit}`,
  last: (range, batchRows) => sql`SELECT started AS last FROM ${numbersOf(range)}
    ORDER BY started LIMIT 1 OFFSET ${batchRows - 1}`,
  newest: (range, batchRows) => sql`SELECT started AS last FROM ${numbersOf(range)}
    ORDER BY started DESC LIMIT 1 OFFSET ${batchRows - 1}`,
  page: (range, place, matching, limit) => sql`SELECT ${RECORD} FROM ${callsOf(range)}
    WHERE ${isBehind(place)} AND ${matches(matching)} ORDER BY started_at DESC, id DESC LIMIT ${limit}`,
  summed: (range, asked) => sumsOfCalls(asked, "calls", { from: callsOf(range), condition: sql`true` }),
  // In one statement, which sees one moment: the calls wait until the mark moves.
  days: (days, asked, between) => andWaiting(daysOf(days, asked), asked, began(between)),
  spans: (span, asked, { from, to }) =>
    andWaiting(
      spanOf(span, asked),
      withOwner(span, asked),
      sql`${ofOwners(span.owners)} AND started_at >= ${from} AND started_at < ${to}`,
    ),
  owners: sql`${OWNERS} UNION SELECT owner FROM generations WHERE ${WAITING}`,
};
