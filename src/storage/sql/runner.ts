import type { Database } from "bun:sqlite";
import type { Storage } from "../database.ts";
import { retried } from "../sqlite/retry-locked.ts";
import type { Engine, Statement, Value } from "./statement.ts";
import type { SqlRow } from "./table.ts";

/** Runs statements on one engine, each as one commit. */
export class SqlRunner {
  readonly engine: Engine;
  readonly #run: (statement: Statement) => SqlRow[] | Promise<SqlRow[]>;

  constructor(engine: Engine, run: (statement: Statement) => SqlRow[] | Promise<SqlRow[]>) {
    this.engine = engine;
    this.#run = run;
  }

  async run(statement: Statement): Promise<void> {
    await this.#run(statement);
  }

  async rows<Entry>(statement: Statement, read: (row: SqlRow) => Entry): Promise<Entry[]> {
    return (await this.#run(statement)).map(read);
  }

  async first<Entry>(statement: Statement, read: (row: SqlRow) => Entry): Promise<Entry | undefined> {
    const [row] = await this.#run(statement);
    return row && read(row);
  }

  /** Resolves with whether there are rows; a statement that writes has them by RETURNING. */
  async hasRows(statement: Statement): Promise<boolean> {
    return (await this.#run(statement)).length > 0;
  }
}

export function runnerOf(storage: Storage): SqlRunner {
  if (storage.engine === "sqlite") return sqliteRunner(storage.handle);
  const { statements } = storage;
  return new SqlRunner("postgres", ({ template, values }) =>
    statements.run<SqlRow>(template.textFor("postgres"), values),
  );
}

/** Statements are tried again while another process has the file's write lock. */
export function sqliteRunner(database: Database): SqlRunner {
  return new SqlRunner("sqlite", ({ template, values }) =>
    retried(() => database.query<SqlRow, Value[]>(template.textFor("sqlite")).all(...values)),
  );
}
