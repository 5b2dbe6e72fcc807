/** Calls as they end. Both read what every process of the storage has committed. */
import { column, sql, type SqlRunner, type Statement, tableOf, textsIn } from "../../storage/index.ts";
import type { CallFilter, CallFollower, CallNews } from "../call-query.ts";
import { matches } from "./call-pages.ts";
import { RECORD, toGeneration } from "./rows.ts";

const { bigInteger, integer, optional, text } = column;
const numbers = tableOf({ number: optional(bigInteger) });
const counts = tableOf({ count: integer });

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

/** Commits of several nodes have no order, and an entry has the time of the node that has written it: so long may it be behind. */
const CLOCKS_DIFFER_MS = 300_000;

/** The newest entries that are looked at: all of five minutes at 33 calls a second, and of ten seconds at 1,000. */
const SCANNED_MAX = 10_000;

/** New entries that are remembered for followers. */
const ENTRIES_MAX = 5_000;

/**
 * Transactions are numbered as they begin to write. A row's number has 32 bits, those of a snapshot go on beyond. The time is that of the
 * statement: by one that may change within it, Postgres would look through all entries and not through those of an index.
 */
const BY_TRANSACTION = sql`
  WITH snapshot AS (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest,
      pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next),
    recent AS (SELECT id, xmin::text::bigint AS low FROM entries
      WHERE created_at >= (extract(epoch FROM statement_timestamp()) * 1000)::bigint - ${CLOCKS_DIFFER_MS} AND kind <> 'grant'
      ORDER BY created_at DESC, id DESC LIMIT ${SCANNED_MAX}),
    numbered AS (SELECT id, oldest, low + (((next - low) >> 32) << 32) AS number FROM recent, snapshot)`;

const reads = tableOf({ oldest: bigInteger, id: optional(text) });

/**
 * The entries that Postgres has committed of late, read once for all followers of this process. An entry that the read before did not
 * see was written by a transaction that was under way then or has begun since, in whatever order they were committed and whatever
 * their nodes' clocks show.
 */
export class LateEntries {
  readonly #sql: SqlRunner;
  /** Those of the last read. */
  #seen: ReadonlySet<string> = new Set();
  /** The oldest transaction that was under way at the last read. */
  #oldest: bigint | undefined;
  /** The latest new ones, and the number of all of them so far. */
  #added: string[] = [];
  #count = 0;
  #reading: Promise<void> | undefined;
  /** How often they were read. */
  reads = 0;

  constructor(runner: SqlRunner) {
    this.#sql = runner;
  }

  /** The position after all entries so far. */
  get end(): number {
    return this.#count;
  }

  /** The entries after a position, as far as they are remembered. */
  after(position: number): string[] {
    const count = Math.min(this.#count - position, this.#added.length);
    return count === 0 ? [] : this.#added.slice(-count);
  }

  /** Reads once more, or resolves with a read that is under way. */
  read(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const rows = await this.#sql.rows(
      sql`${BY_TRANSACTION} SELECT snapshot.oldest, id FROM snapshot
        LEFT JOIN numbered ON number >= coalesce(CAST(${this.#oldest} AS bigint), snapshot.oldest)`,
      reads.read,
    );
    const recent = rows.flatMap(({ id }) => id ?? []);
    const added = this.#oldest === undefined ? [] : recent.filter((id) => !this.#seen.has(id));
    this.#oldest = rows[0]?.oldest;
    this.#seen = new Set(recent);
    this.#count += added.length;
    this.#added = [...this.#added, ...added].slice(-ENTRIES_MAX);
    this.reads += 1;
  }
}

/** Uses each read of the entries once: so the most frequent follower has them read, and the others need no reads of their own. */
export class PostgresFollower implements CallFollower {
  readonly #sql: SqlRunner;
  readonly #filter: CallFilter;
  readonly #entries: LateEntries;
  #position: { reads: number; end: number } | undefined;

  constructor(runner: SqlRunner, filter: CallFilter, entries: LateEntries) {
    this.#sql = runner;
    this.#filter = filter;
    this.#entries = entries;
  }

  async next(limit: number): Promise<CallNews> {
    const entries = this.#entries;
    const before = this.#position;
    if (before === undefined || before.reads === entries.reads) await entries.read();
    this.#position = { reads: entries.reads, end: entries.end };
    const added = before === undefined ? [] : entries.after(before.end);
    if (added.length === 0) return { calls: [], left: 0 };
    const some = sql`FROM generations WHERE id IN (${textsIn(added)}) AND ${whichMatch(this.#filter)}`;
    const page = sql`SELECT ${RECORD} ${some} ORDER BY id LIMIT ${limit}`;
    return newsOf(this.#sql, { page, count: sql`SELECT count(*) AS count ${some}` }, limit);
  }
}
