import type { Statements } from "../../storage/index.ts";
import type { Generation, GenerationStore, UsageQuery, UsageReport } from "../store.ts";
import { type UsagePage, UsageReader, type UsageRow } from "../usage-reader.ts";
import { type GenerationRow, toGeneration, usageColumns } from "./rows.ts";

type Row = GenerationRow<boolean>;

const isSet = (flag: boolean): boolean => flag;

/** Generations on Postgres. */
export class PostgresGenerationStore implements GenerationStore {
  readonly #statements: Statements;
  readonly #pageRows: number;
  readonly #usage = new UsageReader((query) => this.#page(query));

  constructor(statements: Statements, pageRows: number) {
    this.#statements = statements;
    this.#pageRows = pageRows;
  }

  async find(id: string, owner: string): Promise<Generation | undefined> {
    const [row] = await this.#statements.run<Row>("SELECT * FROM generations WHERE id = $1 AND owner = $2", [
      id,
      owner,
    ]);
    return row === undefined ? undefined : toGeneration(row, isSet);
  }

  usage(query: UsageQuery): Promise<UsageReport | "too-many-groups"> {
    return this.#usage.read(query);
  }

  /** Ends a page after a whole millisecond, so that the next one begins at the following millisecond. */
  async #page({ owner, from, to, groupBy }: UsageQuery): Promise<UsagePage> {
    const [last] = await this.#statements.run<{ started_at: bigint }>(
      "SELECT started_at FROM generations WHERE owner = $1 AND started_at >= $2 AND started_at < $3 ORDER BY started_at LIMIT 1 OFFSET $4",
      [owner, from, to, this.#pageRows - 1],
    );
    const next = last === undefined ? undefined : Number(last.started_at) + 1;
    const rows = await this.#statements.run<UsageRow>(
      `SELECT ${usageColumns(groupBy)} FROM generations WHERE owner = $1 AND started_at >= $2 AND started_at < $3 GROUP BY 1`,
      [owner, from, next ?? to],
    );
    return { rows, next };
  }
}
