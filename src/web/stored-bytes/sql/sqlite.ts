import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { BytesBound, BytesKind, StoredBytes, StoredBytesStore } from "../store.ts";
import { type BytesRow, statementsWith, toStoredBytes, valuesOf } from "./rows.ts";

const SQL = statementsWith((index) => `?${index}`);

/** Stored bytes on SQLite. */
export class SqliteStoredBytesStore implements StoredBytesStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  put(bytes: StoredBytes): Promise<void> {
    return this.#run(SQL.put, valuesOf(bytes));
  }

  find(kind: BytesKind, id: string, at: number): Promise<StoredBytes | undefined> {
    const row = this.#database.query<BytesRow, [string, string, number]>(SQL.find).get(kind, id, at);
    return Promise.resolve(row === null ? undefined : toStoredBytes(row));
  }

  trim(kind: BytesKind, owner: string, { countMax, bytesMax }: BytesBound): Promise<void> {
    return this.#run(SQL.trim, [kind, owner, countMax, bytesMax]);
  }

  deleteExpired(at: number): Promise<void> {
    return this.#run(SQL.deleteExpired, [at]);
  }

  #run(statement: string, parameters: SQLQueryBindings[]): Promise<void> {
    this.#database.query(statement).run(...parameters);
    return Promise.resolve();
  }
}
