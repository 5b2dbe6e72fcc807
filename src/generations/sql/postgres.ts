import { Calendar } from "../../core/index.ts";
import type { PostgresStorage, Statements } from "../../storage/index.ts";
import {
  type Generation,
  type GenerationStore,
  periodOfSeries,
  type SeriesQuery,
  type UsageOutcome,
  type UsageQuery,
} from "../store.ts";
import type { UsagePart } from "../usage-parts.ts";
import { type UsagePage, UsageReader, type UsageRow, type UsageSource, type UsageState } from "../usage-reader.ts";
import { type GenerationRow, summedCalls, summedDays, toGeneration } from "./rows.ts";

type Row = GenerationRow<boolean>;

const isSet = (flag: boolean): boolean => flag;

const CALLS = "FROM generations WHERE owner = $1 AND started_at >= $2 AND started_at < $3";
const DAYS = "FROM daily_sums WHERE owner = $1 AND day >= $2 AND day < $3";

/** Generations on Postgres. */
export class PostgresGenerationStore implements GenerationStore, UsageSource {
  readonly calendar: Calendar;
  readonly #statements: Statements;
  readonly #pageRows: number;
  readonly #usage: UsageReader;

  constructor({ statements, timezone }: Pick<PostgresStorage, "statements" | "timezone">, pageRows: number) {
    this.calendar = new Calendar(timezone);
    this.#statements = statements;
    this.#pageRows = pageRows;
    this.#usage = new UsageReader(this, this.calendar);
  }

  async find(id: string, owner: string): Promise<Generation | undefined> {
    const [row] = await this.#statements.run<Row>("SELECT * FROM generations WHERE id = $1 AND owner = $2", [
      id,
      owner,
    ]);
    return row === undefined ? undefined : toGeneration(row, isSet);
  }

  async ofSeries({ owner, parent, after, limit }: SeriesQuery): Promise<Generation[]> {
    const { from, to } = periodOfSeries(parent);
    const rows = await this.#statements.run<Row>(`SELECT * ${CALLS} AND parent = $4 AND id > $5 ORDER BY id LIMIT $6`, [
      owner,
      from,
      to,
      parent,
      after,
      limit,
    ]);
    return rows.map((row) => toGeneration(row, isSet));
  }

  usage(query: UsageQuery): Promise<UsageOutcome> {
    return this.#usage.read(query);
  }

  async state(): Promise<UsageState> {
    const [state] = await this.#statements.run<UsageState>("SELECT timezone, removed_before FROM ledger_state");
    if (state === undefined) throw new Error("ledger_state has no row");
    return state;
  }

  /** Ends a page after a whole millisecond or day, so that the next one begins at the following one. */
  async page(part: UsagePart, { owner, groupBy }: Pick<UsageQuery, "owner" | "groupBy">): Promise<UsagePage> {
    const { unit, from, to } = part;
    const [column, source] = unit === "calls" ? ["started_at", CALLS] : ["day", DAYS];
    const [last] = await this.#statements.run<{ last: bigint }>(
      `SELECT ${column} AS last ${source} ORDER BY ${column} LIMIT 1 OFFSET $4`,
      [owner, from, to, this.#pageRows - 1],
    );
    const next = last === undefined ? undefined : Number(last.last) + 1;
    const columns = unit === "calls" ? summedCalls(groupBy, part.day) : summedDays(groupBy);
    const rows = await this.#statements.run<UsageRow>(`SELECT ${columns} ${source} GROUP BY 1`, [
      owner,
      from,
      next ?? to,
    ]);
    return { rows, next };
  }
}
