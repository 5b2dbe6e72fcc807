import type { Database } from "bun:sqlite";
import type { ObjectOwner, ObjectOwnerStore, OwnedObjects } from "../store.ts";
import { type OwnerRow, statementsWith, toObjectOwner } from "./rows.ts";

const SQL = statementsWith((index) => `?${index}`, {
  pairs: "(SELECT DISTINCT value ->> 'kind' AS kind, value ->> 'id' AS id FROM json_each(?5))",
  ids: "SELECT value FROM json_each(?3)",
});

/** Owners of stored objects on SQLite. */
export class SqliteObjectOwnerStore implements ObjectOwnerStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  put({ objects, provider, owner, keyId, expiresAt }: OwnedObjects): Promise<void> {
    this.#database.query(SQL.put).run(provider, owner, keyId, expiresAt, JSON.stringify(objects));
    return Promise.resolve();
  }

  find(provider: string, ids: readonly string[], at: number): Promise<ObjectOwner[]> {
    const query = this.#database.query<OwnerRow, [string, number, string]>(SQL.find);
    return Promise.resolve(query.all(provider, at, JSON.stringify(ids)).map(toObjectOwner));
  }

  deleteExpired(at: number): Promise<void> {
    this.#database.query(SQL.deleteExpired).run(at);
    return Promise.resolve();
  }
}
