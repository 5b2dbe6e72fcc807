import type { Database } from "bun:sqlite";
import type { Generation, GenerationStore, UsageQuery, UsageReport } from "../store.ts";
import { type UsagePage, UsageReader, type UsageRow } from "../usage-reader.ts";
import { type GenerationRow, toGeneration, usageColumns } from "./rows.ts";

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
      .query<Row, [string, string]>("SELECT * FROM generations WHERE id = ? AND owner = ?")
      .get(id, owner);
    return Promise.resolve(row === null ? undefined : toGeneration(row, isSet));
  }

  usage(query: UsageQuery): Promise<UsageReport | "too-many-groups"> {
    return this.#usage.read(query);
  }

  /** Ends a page after a whole millisecond, so that the next one begins at the following millisecond. */
  #page({ owner, from, to, groupBy }: UsageQuery): UsagePage {
    const last = this.#database
      .query<{ started_at: bigint }, [string, number, number, number]>(
        `${OWNED} SELECT started AS started_at FROM owned ORDER BY started LIMIT 1 OFFSET ?4`,
      )
      .get(owner, from, to, this.#pageRows - 1);
    const next = last === null ? undefined : Number(last.started_at) + 1;
    const rows = this.#database
      .query<UsageRow, [string, number, number]>(
        `${OWNED} SELECT ${usageColumns(groupBy)} FROM owned CROSS JOIN generations g
           ON g.number = owned.number AND g.owner = ?1 AND g.started_at = owned.started GROUP BY 1`,
      )
      .all(owner, from, next ?? to);
    return { rows, next };
  }
}
