import { Calendar, limits } from "../../core/index.ts";
import { readerOf, runnerOf, sql, type SqlRow, type SqlRunner, type Storage } from "../../storage/index.ts";
import {
  type AllSpending,
  type AllSpendingQuery,
  type GenerationStore,
  periodOfSeries,
  type SeriesQuery,
  type SpendingOutcome,
  type SpendingQuery,
  type UsageOutcome,
  type UsageQuery,
} from "../store.ts";
import type { UsagePart } from "../usage-parts.ts";
import {
  type StoredQuery,
  type UsageBatch,
  UsageReader,
  type UsageRow,
  type UsageSource,
  type UsageState,
} from "../usage-reader.ts";
import type {
  CallFilter,
  CallFollower,
  CallPage,
  CallPageQuery,
  CallPart,
  CallQuery,
  ForeignIdOutcome,
  ForeignIdQuery,
} from "../call-query.ts";
import type { Generation } from "../generation.ts";
import { CallReader } from "../call-reader.ts";
import { Turns } from "../turns.ts";
import { callById } from "./call-pages.ts";
import { SqlCallSource } from "./call-source.ts";
import { LateEntries, PostgresFollower, SqliteFollower } from "./followers.ts";
import { type CallStatements, postgresCalls, sqliteCalls } from "./calls.ts";
import { counts, detailsIn, last, owners, RECORD, state, sums, toGeneration } from "./rows.ts";
import type { AskedSums, OwnersSpan, Range } from "./sums.ts";

/** Sums of days are so many times as fast to read as calls: about twenty milliseconds. */
const SPAN_BATCHES = 10;

class SqlGenerationStore implements GenerationStore, UsageSource {
  readonly calendar: Calendar;
  readonly #sql: SqlRunner;
  /** For what reads many rows. */
  readonly #reader: SqlRunner;
  readonly #calls: CallStatements;
  readonly #batchRows: number;
  readonly #usage: UsageReader;
  readonly #list: CallReader;
  /** Of the followers on Postgres. */
  #entries: LateEntries | undefined;

  constructor(storage: Storage, batchRows: number) {
    this.calendar = new Calendar(storage.timezone);
    this.#sql = runnerOf(storage);
    this.#reader = readerOf(storage);
    this.#calls = storage.engine === "sqlite" ? sqliteCalls : postgresCalls;
    this.#batchRows = batchRows;
    const turns = new Turns();
    this.#usage = new UsageReader(this, { calendar: this.calendar, turns, spanRows: SPAN_BATCHES * batchRows });
    this.#list = new CallReader(new SqlCallSource(this.#reader), turns, Math.min(batchRows, limits.callBatchRows));
  }

  find(id: string, owner: string): Promise<Generation | undefined> {
    const found = sql`SELECT ${RECORD} FROM generations WHERE id = ${id} AND owner = ${owner}`;
    return this.#sql.first(found, toGeneration);
  }

  ofSeries(query: SeriesQuery): Promise<Generation[]> {
    const range = { owner: query.owner, ...periodOfSeries(query.parent) };
    return this.#reader.rows(this.#calls.series(range, query), toGeneration);
  }

  usage(query: UsageQuery): Promise<UsageOutcome> {
    return this.#usage.ofUser(query);
  }

  spending(query: SpendingQuery): Promise<SpendingOutcome> {
    return this.#usage.ofUsers(query);
  }

  allSpending(query: AllSpendingQuery): Promise<AllSpending> {
    return this.#usage.allGroups(query);
  }

  list(query: CallPageQuery): Promise<CallPage> {
    return this.#list.page(query);
  }

  parts(query: CallQuery): AsyncIterable<CallPart> {
    return this.#list.parts(query);
  }

  findAny(id: string, organisationAccount?: string): Promise<Generation | undefined> {
    return this.#sql.first(callById(id, { organisationAccount, from: 0, to: Number.MAX_SAFE_INTEGER }), toGeneration);
  }

  findByForeignId(query: ForeignIdQuery): Promise<ForeignIdOutcome> {
    return this.#list.byForeignId(query);
  }

  follow(filter: CallFilter): CallFollower {
    if (this.#reader.engine === "sqlite") return new SqliteFollower(this.#reader, filter);
    this.#entries ??= new LateEntries(this.#reader);
    return new PostgresFollower(this.#reader, filter, this.#entries);
  }

  owners(): Promise<string[]> {
    return this.#reader.rows(this.#calls.owners, (row) => owners.read(row).owner);
  }

  async state(): Promise<UsageState> {
    const found = await this.#reader.first(sql`SELECT timezone, removed_before FROM ledger_state`, state.read);
    if (found === undefined) throw new Error("ledger_state has no row");
    return found;
  }

  /** Ends a batch after a whole millisecond or day, so that the next one begins at the following one. */
  async batch(part: UsagePart, { owner, ...asked }: StoredQuery): Promise<UsageBatch> {
    const range = { owner, from: part.from, to: part.to };
    const { unit } = part;
    const end = await this.#reader.first(
      unit === "calls" ? this.#calls.last(range, this.#batchRows) : lastDay(range, this.#batchRows),
      (row) => last.read(row).last + 1,
    );
    const batch = { ...range, to: end ?? part.to };
    const statement =
      unit === "calls" ? this.#calls.summed(batch, asked) : this.#calls.days(batch, asked, this.#momentsOf(batch));
    const day = unit === "calls" ? part.day : undefined;
    const rows = await this.#reader.rows(statement, (row) => this.#rowOf(row, asked, day));
    return { rows, next: end };
  }

  async spans(span: OwnersSpan, asked: AskedSums): Promise<{ rows: UsageRow[]; counted: number }> {
    const { from, to } = span;
    const between = { from: this.calendar.startOfDay(from), to: this.calendar.startOfDay(to) };
    let counted = 0;
    const rows = await this.#reader.rows(this.#calls.spans(span, asked, between), (row) => {
      counted += counts.read(row).counted;
      return this.#rowOf(row, asked);
    });
    return { rows, counted };
  }

  /** A call that is not in the sums of its day yet has its time; a row that is summed from calls has the day of its part. */
  #rowOf(row: SqlRow, { by, details }: AskedSums, day?: number): UsageRow {
    const { startedAt, ...read } = { ...sums.read(row), ...detailsIn(row, details) };
    if (!by.includes("day")) return read;
    if (startedAt !== undefined) return { ...read, day: this.calendar.dayOf(startedAt) };
    return day === undefined ? read : { ...read, day };
  }

  #momentsOf({ owner, from, to }: Range): Range {
    return { owner, from: this.calendar.startOfDay(from), to: this.calendar.startOfDay(to) };
  }
}

const lastDay = ({ owner, from, to }: Range, batchRows: number) => sql`SELECT day AS last FROM daily_sums
  WHERE owner = ${owner} AND day >= ${from} AND day < ${to} ORDER BY day LIMIT 1 OFFSET ${batchRows - 1}`;

/** The store of generations for the storage's engine; sums read `batchRows` rows at a time. */
export function openGenerationStore(storage: Storage, batchRows: number = limits.usageBatchRows): GenerationStore {
  return new SqlGenerationStore(storage, batchRows);
}
