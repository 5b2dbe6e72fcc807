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

/** Commits of several nodes have no order, and an entry has the time of the node that has written it: so long may it differ. */
const OVERLAP_MS = 5_000;

/** Entries of a longer pause between two reads are left out. */
const PAUSE_MS_MAX = 30_000;

/** The newest entries that are read at once, and that are remembered for followers: those of the overlap at 1,000 calls a second. */
const ENTRIES_MAX = 5_000;

/** The entries that Postgres has committed of late, read once for all followers of this process. */
export class LateEntries {
  readonly #sql: SqlRunner;
  readonly #clock: Clock;
  /** Those of the last read, with their times. */
  #seen = new Map<string, number>();
  /** The time of the newest entry. */
  #newest: number | undefined;
  /** The latest new ones, and the number of all of them so far. */
  #added: string[] = [];
  #count = 0;
  #reading: Promise<void> | undefined;
  /** How often they were read. */
  reads = 0;

  constructor(runner: SqlRunner, clock: Clock) {
    this.#sql = runner;
    this.#clock = clock;
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
    const now = this.#clock();
    const since = Math.max(Math.min(now, this.#newest ?? now) - OVERLAP_MS, now - PAUSE_MS_MAX);
    const recent = await this.#sql.rows(
      sql`SELECT id, created_at FROM entries WHERE created_at >= ${since} AND kind <> 'grant'
        ORDER BY created_at DESC, id DESC LIMIT ${ENTRIES_MAX}`,
      ends.read,
    );
    const added = recent.flatMap(({ id }) => (this.#seen.has(id) ? [] : [id]));
    this.#seen = new Map(recent.map(({ id, createdAt }) => [id, createdAt]));
    this.#newest = recent[0]?.createdAt ?? this.#newest;
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
