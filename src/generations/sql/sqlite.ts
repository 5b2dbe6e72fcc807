import type { Database } from "bun:sqlite";
import { Calendar } from "../../calendar/index.ts";
import type { SqliteStorage } from "../../storage/index.ts";
import type { Generation, GenerationStore, UsageOutcome, UsageQuery } from "../store.ts";
import type { UsagePart } from "../usage-parts.ts";
import { type UsagePage, UsageReader, type UsageRow, type UsageSource, type UsageState } from "../usage-reader.ts";
import { type GenerationRow, summedCalls, summedDays, toGeneration } from "./rows.ts";

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

  constructor({ handle, timezone }: Pick<SqliteStorage, "handle" | "timezone">, pageRows: number) {
    this.calendar = new Calendar(timezone);
    this.#database = handle;
    this.#pageRows = pageRows;
    this.#usage = new UsageReader(this, this.calendar);
  }

  find(id: string, owner: string): Promise<Generation | undefined> {
    const row = this.#database
      .query<Row, [string, string]>("SELECT * FROM generations WHERE id = ? AND owner = ?")
      .get(id, owner);
    return Promise.resolve(row === null ? undefined : toGeneration(row, isSet));
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
    const last = this.#last(
      `SELECT day AS last FROM daily_sums WHERE ${DAYS} ORDER BY day LIMIT 1 OFFSET ?4`,
      owner,
      part,
    );
    const days = `SELECT ${summedDays(groupBy)} FROM daily_sums WHERE ${DAYS} GROUP BY 1`;
    return this.#page(days, [owner, from, last ?? to], last);
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

const DAYS = "owner = ?1 AND day >= ?2 AND day < ?3";
