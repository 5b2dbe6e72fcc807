import type { Database } from "bun:sqlite";
import type { ResponseStore, StoredResponse } from "../store.ts";
import { type ResponseRow, statementsWith, toStoredResponse, valuesOf } from "./rows.ts";

const SQL = statementsWith((index) => `?${index}`);

/** Responses on SQLite. */
export class SqliteResponseStore implements ResponseStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  put(response: StoredResponse): Promise<void> {
    this.#database.query(SQL.put).run(...valuesOf(response));
    return Promise.resolve();
  }

  find(id: string, owner: string, at: number): Promise<StoredResponse | undefined> {
    const row = this.#database.query<ResponseRow, [string, string, number]>(SQL.find).get(id, owner, at);
    return Promise.resolve(row === null ? undefined : toStoredResponse(row));
  }

  chain(id: string, owner: string, at: number): Promise<StoredResponse[]> {
    const rows = this.#database.query<ResponseRow, [string, string, number]>(SQL.chain).all(id, owner, at);
    return Promise.resolve(rows.map(toStoredResponse));
  }

  remove(id: string, owner: string): Promise<boolean> {
    return Promise.resolve(this.#database.query(SQL.remove).all(id, owner).length > 0);
  }

  deleteExpired(at: number): Promise<void> {
    this.#database.query(SQL.forget).run(at);
    return Promise.resolve();
  }
}
