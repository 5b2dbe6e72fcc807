import type { Database } from "bun:sqlite";
import { Calendar } from "../../core/index.ts";
import type { SqliteStorage } from "../../storage/index.ts";
import {
  type Generation,
  type GenerationStore,
  periodOfSeries,
  type SeriesQuery,
  type UsageGrouping,
  type UsageOutcome,
  type UsageQuery,
} from "../store.ts";
import type { UsagePart } from "../usage-parts.ts";
import { type UsagePage, UsageReader, type UsageRow, type UsageSource, type UsageState } from "../usage-reader.ts";
import { type GenerationRow, MODEL, summedCalls, summedDays, toGeneration } from "./rows.ts";

type Row = GenerationRow<bigint>;

const isSet = (flag: bigint): boolean => flag === 1n;

/** An owner's calls in a period: those in the index, and the few after its mark. */
const OWNED = `
  WITH owned (started, number) AS (
    SELECT started_at, number FROM calls_by_owner WHERE owner = ?1 AND started_at >= ?2 AND started_at < ?3
    UNION ALL
    SELECT started_at, number FROM generations
    WHERE number > (SELECT number FROM calls_by_owner_mark) AND owner = ?1 AND started_at >= ?2 AND started_at < ?3)`;

/** Generations on SQLite. */
export class SqliteGenerationStore implements GenerationStore, UsageSource {
  readonly calendar: Calendar;
  readonly #database: Database;
  readonly #pageRows: number;
  readonly #usage: UsageReader;
  readonly #days: { deferred: (part: UsagePart, owner: string, groupBy: UsageGrouping) => UsagePage };

  constructor({ handle, timezone }: Pick<SqliteStorage, "handle" | "timezone">, pageRows: number) {
    this.calendar = new Calendar(timezone);
    this.#database = handle;
    this.#pageRows = pageRows;
    this.#usage = new UsageReader(this, this.calendar);
    this.#days = handle.transaction((part: UsagePart, owner: string, groupBy: UsageGrouping) =>
      this.#readDays(part, owner, groupBy),
    );
  }

  find(id: string, owner: string): Promise<Generation | undefined> {
    const row = this.#database
      .query<Row, [string, string]>("SELECT * FROM generations WHERE id = ? AND owner = ?")
      .get(id, owner);
    return Promise.resolve(row === null ? undefined : toGeneration(row, isSet));
  }

  ofSeries({ owner, parent, after, limit }: SeriesQuery): Promise<Generation[]> {
    const { from, to } = periodOfSeries(parent);
    const rows = this.#database
      .query<Row, [string, number, number, string, string, number]>(
        `${OWNED} SELECT g.* FROM owned CROSS JOIN generations g
           ON g.number = owned.number AND g.owner = ?1 AND g.started_at = owned.started
           WHERE g.parent = ?4 AND g.id > ?5 ORDER BY g.id LIMIT ?6`,
      )
      .all(owner, from, to, parent, after, limit);
    return Promise.resolve(rows.map((row) => toGeneration(row, isSet)));
  }

  usage(query: UsageQuery): Promise<UsageOutcome> {
    return this.#usage.read(query);
  }

  async state(): Promise<UsageState> {
    const state = this.#database.query<UsageState, []>("SELECT timezone, removed_before FROM ledger_state").get();
    if (state === null) throw new Error("ledger_state has no row");
    return state;
  }

  async page(part: UsagePart, { owner, groupBy }: Pick<UsageQuery, "owner" | "groupBy">): Promise<UsagePage> {
    const { from, to } = part;
    if (part.unit === "calls") {
      const last = this.#last(
        `${OWNED} SELECT started AS last FROM owned ORDER BY started LIMIT 1 OFFSET ?4`,
        owner,
        part,
      );
      const columns = summedCalls(groupBy, part.day);
      return this.#page(
        `${OWNED} SELECT ${columns} FROM owned CROSS JOIN generations g
           ON g.number = owned.number AND g.owner = ?1 AND g.started_at = owned.started GROUP BY 1`,
        [owner, from, last ?? to],
        last,
      );
    }
    return this.#days.deferred(part, owner, groupBy);
  }

  /** Sums of days, with the calls of the same days that are not in them yet; in one snapshot, since the mark moves. */
  #readDays(part: UsagePart, owner: string, groupBy: UsageGrouping): UsagePage {
    const { from, to } = part;
    const last = this.#last(
      `SELECT day AS last FROM daily_sums WHERE ${DAYS} ORDER BY day LIMIT 1 OFFSET ?4`,
      owner,
      part,
    );
    const days = `SELECT ${summedDays(groupBy)} FROM daily_sums WHERE ${DAYS} GROUP BY 1`;
    const page = this.#page(days, [owner, from, last ?? to], last);
    const bounds = [this.calendar.startOfDay(from), this.calendar.startOfDay(last ?? to)] as const;
    const waiting = this.#database.query<WaitingRow, [string, number, number]>(WAITING).all(owner, ...bounds);
    return { rows: [...page.rows, ...waiting.map((row) => this.#toUsageRow(row, groupBy))], next: last };
  }

  #toUsageRow({ started_at: at, account_id: account, model, ...sums }: WaitingRow, groupBy: UsageGrouping): UsageRow {
    const key = { day: BigInt(this.calendar.dayOf(Number(at))), model, token: account }[groupBy];
    return { key, requests: 1n, ...sums };
  }

  /** Ends a page after a whole millisecond or day, so that the next one begins at the following one. */
  #last(statement: string, owner: string, { from, to }: UsagePart): number | undefined {
    const row = this.#database
      .query<{ last: bigint }, [string, number, number, number]>(statement)
      .get(owner, from, to, this.#pageRows - 1);
    return row === null ? undefined : Number(row.last) + 1;
  }

  #page(statement: string, parameters: [string, number, number], next: number | undefined): UsagePage {
    return { rows: this.#database.query<UsageRow, [string, number, number]>(statement).all(...parameters), next };
  }
}

/** A call that is not in the sums yet. */
interface WaitingRow {
  started_at: bigint;
  account_id: string;
  model: string;
  input_tokens: bigint;
  output_tokens: bigint;
  credits: bigint;
}

const WAITING = `
  SELECT started_at, account_id, ${MODEL} AS model, input_tokens, output_tokens, credits FROM generations
  WHERE number > (SELECT number FROM calls_by_owner_mark) AND owner = ?1 AND started_at >= ?2 AND started_at < ?3`;

const DAYS = "owner = ?1 AND day >= ?2 AND day < ?3";
