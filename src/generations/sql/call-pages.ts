/**
 * The statements that list calls from the newest. All calls are in the order of their ids, which begin with the time; those of one
 * user in the order of their beginnings, by the index that their sums use too. A batch ends at the place of its last row, so that
 * the filter may leave out any of its rows.
 */
import { perEngine, sql, type Statement } from "../../storage/index.ts";
import type { CallFilter } from "../call-query.ts";
import { RECORD } from "./rows.ts";

/** Ids from `low` on and before another. */
export interface IdRange {
  low: string;
  before: string;
}

/** The filter of the rows of a batch. */
export interface Matching extends CallFilter {
  from: number;
  to: number;
  /** An id by which somebody else knows the call. */
  named?: string | undefined;
}

/** As in the indexes of failed calls, word by word. */
const FAILED = perEngine({
  sqlite: "outcome <> 'complete' AND outcome <> 'abandoned'",
  postgres: "outcome <> 'complete' AND outcome <> 'abandoned'",
});

/** Of SQLite, the index of all entries is read alone; a few of them are no calls. */
const CALLS = perEngine({ sqlite: "entries", postgres: "generations" });

/** A tag of the filter has another value, or none. */
const ANOTHER_TAG = [
  perEngine({ sqlite: "SELECT 1 FROM json_each(", postgres: "SELECT 1 FROM json_each_text(" }),
  perEngine({
    sqlite: `) AS wanted WHERE json_extract(tags, '$."' || wanted.key || '"') IS NOT wanted.value`,
    postgres: "::text::json) AS wanted WHERE (tags::json ->> wanted.key) IS DISTINCT FROM wanted.value",
  }),
] as const;

/** Whether a request before the last one has this id. */
const CONTAINS = perEngine({ sqlite: "instr(attempts, ", postgres: "strpos(attempts, " });

/** Whether the account of the organisation is above that of a call; undefined for no such condition. Chains of sessions have four levels. */
export const isPaidBy = (organisationAccount: string | undefined): Statement => sql`
  (CAST(${organisationAccount} AS text) IS NULL OR EXISTS (
    SELECT 1 FROM accounts t LEFT JOIN accounts u ON u.id = t.parent_id LEFT JOIN accounts o ON o.id = u.parent_id
    WHERE t.id = account_id AND ${organisationAccount} IN (t.parent_id, u.parent_id, o.parent_id)))`;

export function matches(query: Matching): Statement {
  const { organisationAccount, tokenId, provider, model, operation, hasFailed, session, endUser, named } = query;
  const account = tokenId === undefined ? undefined : `token:${tokenId}`;
  const tags = query.tags === undefined ? undefined : JSON.stringify(query.tags);
  const attempted = named === undefined ? undefined : `"upstreamRequestId":${JSON.stringify(named)}`;
  const failed = hasFailed === undefined ? undefined : Number(hasFailed);
  return sql`started_at >= ${query.from} AND started_at < ${query.to}
    AND (CAST(${provider} AS text) IS NULL OR provider = ${provider})
    AND (CAST(${model} AS text) IS NULL OR provider || '/' || model = ${model})
    AND (CAST(${failed} AS bigint) IS NULL OR CASE WHEN ${FAILED} THEN 1 ELSE 0 END = ${failed})
    AND (CAST(${operation} AS text) IS NULL OR operation = ${operation})
    AND (CAST(${session} AS text) IS NULL OR session = ${session})
    AND (CAST(${endUser} AS text) IS NULL OR end_user = ${endUser})
    AND (CAST(${account} AS text) IS NULL OR account_id = ${account} OR substr(account_id, 1, length(${account}) + 1) = ${account} || ':')
    AND ${isPaidBy(organisationAccount)}
    AND (CAST(${tags} AS text) IS NULL OR NOT EXISTS (${ANOTHER_TAG[0]}${tags}${ANOTHER_TAG[1]}))
    AND (CAST(${named} AS text) IS NULL OR client_request_id = ${named} OR upstream_request_id = ${named}
      OR ${CONTAINS}${attempted}) > 0)`;
}

/** The id of the last call of a batch that begins before the range's end; none if there are fewer. */
export function lastById({ low, before }: IdRange, batchRows: number): Statement {
  return sql`SELECT id FROM ${CALLS} WHERE id >= ${low} AND id < ${before} ORDER BY id DESC LIMIT 1 OFFSET ${batchRows - 1}`;
}

export function lastFailed({ low, before }: IdRange, batchRows: number): Statement {
  return sql`SELECT id FROM ${CALLS} WHERE id >= ${low} AND id < ${before} AND ${FAILED}
    ORDER BY id DESC LIMIT 1 OFFSET ${batchRows - 1}`;
}

export function pageById({ low, before }: IdRange, matching: Matching, limit: number): Statement {
  return sql`SELECT ${RECORD} FROM generations WHERE id >= ${low} AND id < ${before} AND ${matches(matching)}
    ORDER BY id DESC LIMIT ${limit}`;
}

export function pageOfFailed({ low, before }: IdRange, matching: Matching, limit: number): Statement {
  return sql`SELECT ${RECORD} FROM generations WHERE id >= ${low} AND id < ${before} AND ${FAILED} AND ${matches(matching)}
    ORDER BY id DESC LIMIT ${limit}`;
}

export function callById(id: string, matching: Matching): Statement {
  return sql`SELECT ${RECORD} FROM generations WHERE id = ${id} AND ${matches(matching)}`;
}

/** The latest failed call with an id that somebody else has given it. */
export function failedByName(name: string, matching: Matching): Statement {
  return sql`SELECT ${RECORD} FROM generations WHERE id IN (
      SELECT id FROM ${CALLS} WHERE upstream_request_id = ${name} AND ${FAILED}
      UNION SELECT id FROM ${CALLS} WHERE client_request_id = ${name} AND ${FAILED})
    AND ${matches(matching)} ORDER BY id DESC LIMIT 1`;
}
