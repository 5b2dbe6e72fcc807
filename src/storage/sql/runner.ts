import type { Database } from "bun:sqlite";
import type { PostgresStorage, SqliteStorage, Storage } from "../database.ts";
import type { SqliteReader } from "../sqlite/reader.ts";
import { retried } from "../sqlite/retry-locked.ts";
import { type Engine, sql, type Statement, type Value } from "./statement.ts";
import { column, type SqlRow, tableOf } from "./table.ts";

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

/** Statements of one transaction on SQLite, which run at once. */
export class Transaction {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  run({ template, values }: Statement): SqlRow[] {
    return this.#database.query<SqlRow, Value[]>(template.textFor("sqlite")).all(...values);
  }

  rows<Entry>(statement: Statement, read: (row: SqlRow) => Entry): Entry[] {
    return this.run(statement).map(read);
  }

  first<Entry>(statement: Statement, read: (row: SqlRow) => Entry): Entry | undefined {
    const [row] = this.run(statement);
    return row && read(row);
  }

  hasRows(statement: Statement): boolean {
    return this.run(statement).length > 0;
  }
}

/** Statements that another thread reads: their rows become objects some at a time. */
class ReadRunner extends SqlRunner {
  readonly #reader: SqliteReader;

  constructor(reader: SqliteReader) {
    super("sqlite", ({ template, values }) => reader.run(template.textFor("sqlite"), values, (row) => row));
    this.#reader = reader;
  }

  override rows<Entry>({ template, values }: Statement, read: (row: SqlRow) => Entry): Promise<Entry[]> {
    return this.#reader.run(template.textFor("sqlite"), values, read);
  }
}

const SYNCHRONOUS = sql`PRAGMA synchronous`;
const durability = tableOf({ synchronous: column.integer });

/**
 * On SQLite several statements can be one commit. (On Postgres a function of the schema does that, in one round trip.) All is tried
 * again while another process has the file's write lock.
 */
export class SqliteRunner extends SqlRunner {
  readonly #database: Database;
  readonly #statements: Transaction;

  constructor(database: Database) {
    const statements = new Transaction(database);
    super("sqlite", (statement) => retried(() => statements.run(statement)));
    this.#database = database;
    this.#statements = statements;
  }

  async transaction<Result>(work: (transaction: Transaction) => Result): Promise<Result> {
    const transaction = this.#database.transaction(() => work(this.#statements));
    return retried(() => transaction.immediate());
  }

  /** A transaction whose commit waits for the disk, whatever the database's own setting. */
  async flushedTransaction<Result>(work: (transaction: Transaction) => Result): Promise<Result> {
    const transaction = this.#database.transaction(() => work(this.#statements));
    return retried(() => {
      const before = this.#statements.first(SYNCHRONOUS, durability.read);
      this.#database.run("PRAGMA synchronous = FULL");
      try {
        return transaction.immediate();
      } finally {
        this.#database.run(`PRAGMA synchronous = ${before?.synchronous ?? 1}`);
      }
    });
  }
}

export function runnerOf(storage: Pick<SqliteStorage, "engine" | "handle">): SqliteRunner;
export function runnerOf(storage: Storage): SqlRunner;
export function runnerOf(storage: Pick<SqliteStorage, "engine" | "handle"> | PostgresStorage): SqlRunner {
  if (storage.engine === "sqlite") return new SqliteRunner(storage.handle);
  const { statements } = storage;
  return new SqlRunner("postgres", ({ template, values }) =>
    statements.run<SqlRow>(template.textFor("postgres"), values),
  );
}

/**
 * Runs statements that only read, for lists, sums and exports: on SQLite in another thread, so that none holds up the one that answers
 * calls. They see what is committed, and nothing of a transaction that is under way.
 */
export function readerOf(storage: Storage): SqlRunner {
  if (storage.engine === "postgres" || storage.reader === undefined) return runnerOf(storage);
  return new ReadRunner(storage.reader);
}
