import type { Database } from "bun:sqlite";
import type { Generation, GenerationStore, UsageQuery, UsageReport } from "../store.ts";
import { type UsagePage, UsageReader, type UsageRow } from "../usage-reader.ts";
import { type GenerationRow, toGeneration, usageColumns } from "./rows.ts";

type Row = GenerationRow<bigint>;

const isSet = (flag: bigint): boolean => flag === 1n;

/** Generations on SQLite. */
export class SqliteGenerationStore implements GenerationStore {
  readonly #database: Database;
  readonly #pageRows: number;
  readonly #usage = new UsageReader((query) => Promise.resolve(this.#page(query)));

  constructor(database: Database, pageRows: number) {
    this.#database = database;
    this.#pageRows = pageRows;
  }

  find(id: string, owner: string): Promise<Generation | undefined> {
    const row = this.#database
      .query<Row, [string, string]>(
        "SELECT g.* FROM entries e JOIN generations g ON g.number = e.call AND g.id = e.id WHERE e.id = ? AND g.owner = ?",
      )
      .get(id, owner);
    return Promise.resolve(row === null ? undefined : toGeneration(row, isSet));
  }

  usage(query: UsageQuery): Promise<UsageReport | "too-many-groups"> {
    return this.#usage.read(query);
  }

  /** Ends a page after a whole millisecond, so that the next one begins at the following. */
  #page({ owner, from, to, groupBy }: UsageQuery): UsagePage {
    const last = this.#database
      .query<{ started_at: bigint }, [string, number, number, number]>(
        "SELECT started_at FROM generations WHERE owner = ? AND started_at >= ? AND started_at < ? ORDER BY started_at LIMIT 1 OFFSET ?",
      )
      .get(owner, from, to, this.#pageRows - 1);
    const next = last === null ? undefined : Number(last.started_at) + 1;
    const rows = this.#database
      .query<UsageRow, [string, number, number]>(
        `SELECT ${usageColumns(groupBy)} FROM generations WHERE owner = ? AND started_at >= ? AND started_at < ? GROUP BY 1`,
      )
      .all(owner, from, next ?? to);
    return { rows, next };
  }
}
