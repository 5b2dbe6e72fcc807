/** Calls as they end. Both read what every process of the storage has committed. */
import type { Clock } from "../../core/index.ts";
import { column, sql, type SqlRunner, type Statement, tableOf, textsIn } from "../../storage/index.ts";
import type { CallFilter, CallFollower, CallNews } from "../call-query.ts";
import { matches } from "./call-pages.ts";
import { RECORD, toGeneration } from "./rows.ts";

const { bigInteger, integer, optional, text } = column;
const numbers = tableOf({ number: optional(bigInteger) });
const counts = tableOf({ count: integer });
const ends = tableOf({ id: text, createdAt: integer });

/** Every call, whenever it began. */
const always = { from: 0, to: Number.MAX_SAFE_INTEGER };

const whichMatch = (filter: CallFilter): Statement =>
  sql`(CAST(${filter.owner} AS text) IS NULL OR owner = ${filter.owner}) AND ${matches({ ...filter, ...always })}`;

/** The calls that a statement selects, and how many the other one counts besides. */
async function newsOf(
  runner: SqlRunner,
  { page, count }: { page: Statement; count: Statement },
  limit: number,
): Promise<CallNews> {
  const calls = await runner.rows(page, toGeneration);
  if (calls.length < limit) return { calls, left: 0 };
  const all = await runner.first(count, counts.read);
  return { calls, left: Math.max(0, (all?.count ?? 0) - calls.length) };
}

/** Entries are numbered in the order of their commits. */
export class SqliteFollower implements CallFollower {
  readonly #sql: SqlRunner;
  readonly #filter: CallFilter;
  #last: bigint | undefined;

  constructor(runner: SqlRunner, filter: CallFilter) {
    this.#sql = runner;
    this.#filter = filter;
  }

  async next(limit: number): Promise<CallNews> {
    const newest = await this.#sql.first(sql`SELECT max(number) AS number FROM entries`, numbers.read);
    const last = newest?.number ?? 0n;
    const before = this.#last ?? last;
    this.#last = last;
    if (last <= before) return { calls: [], left: 0 };
    const range = sql`FROM generations WHERE number > ${before} AND number <= ${last} AND ${whichMatch(this.#filter)}`;
    const page = sql`SELECT ${RECORD} ${range} ORDER BY number LIMIT ${limit}`;
    return newsOf(this.#sql, { page, count: sql`SELECT count(*) AS count ${range}` }, limit);
  }
}

/** Commits of several nodes have no order, and an entry has the time of the node that has written it: so long may it differ from here. */
const OVERLAP_MS = 10_000;

/** Remembers the entries of the last seconds. */
export class PostgresFollower implements CallFollower {
  readonly #sql: SqlRunner;
  readonly #filter: CallFilter;
  readonly #clock: Clock;
  /** The entries that were read, with their times. */
  #seen: Map<string, number> | undefined;

  constructor(runner: SqlRunner, filter: CallFilter, clock: Clock) {
    this.#sql = runner;
    this.#filter = filter;
    this.#clock = clock;
  }

  async next(limit: number): Promise<CallNews> {
    const since = this.#clock() - OVERLAP_MS;
    const recent = await this.#sql.rows(
      sql`SELECT id, created_at FROM entries WHERE created_at >= ${since} AND kind <> 'grant'`,
      ends.read,
    );
    const seen = this.#seen;
    this.#seen = new Map(recent.map(({ id, createdAt }) => [id, createdAt]));
    const added = seen === undefined ? [] : recent.flatMap(({ id }) => (seen.has(id) ? [] : [id]));
    if (added.length === 0) return { calls: [], left: 0 };
    const some = sql`FROM generations WHERE id IN (${textsIn(added)}) AND ${whichMatch(this.#filter)}`;
    const page = sql`SELECT ${RECORD} ${some} ORDER BY id LIMIT ${limit}`;
    return newsOf(this.#sql, { page, count: sql`SELECT count(*) AS count ${some}` }, limit);
  }
}
