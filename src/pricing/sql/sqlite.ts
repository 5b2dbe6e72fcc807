import type { Database } from "bun:sqlite";
import type { CatalogStore, StoredCatalog } from "../operator-catalog/index.ts";

/** The operator's catalog on SQLite. */
export class SqliteCatalogStore implements CatalogStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  find(location: string): Promise<StoredCatalog | undefined> {
    const query = this.#database.query<{ content: string; read_at: bigint | number }, [string]>(
      "SELECT content, read_at FROM price_catalog WHERE location = ?1",
    );
    const row = query.get(location);
    return Promise.resolve(row === null ? undefined : { text: row.content, readAt: Number(row.read_at) });
  }

  put(location: string, { text, readAt }: StoredCatalog): Promise<void> {
    this.#database
      .query("INSERT OR REPLACE INTO price_catalog (slot, location, content, read_at) VALUES (1, ?1, ?2, ?3)")
      .run(location, text, readAt);
    return Promise.resolve();
  }
}
