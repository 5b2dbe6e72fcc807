import type { Statements } from "../../storage/index.ts";
import type { CatalogStore, StoredCatalog } from "../operator-catalog/index.ts";

/** The operator's catalog on Postgres. */
export class PostgresCatalogStore implements CatalogStore {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  async find(location: string): Promise<StoredCatalog | undefined> {
    const [row] = await this.#statements.run<{ content: string; read_at: bigint }>(
      "SELECT content, read_at FROM price_catalog WHERE location = $1",
      [location],
    );
    return row === undefined ? undefined : { text: row.content, readAt: Number(row.read_at) };
  }

  async put(location: string, { text, readAt }: StoredCatalog): Promise<void> {
    await this.#statements.run(
      `INSERT INTO price_catalog (slot, location, content, read_at) VALUES (1, $1, $2, $3)
        ON CONFLICT (slot) DO UPDATE SET location = excluded.location, content = excluded.content, read_at = excluded.read_at`,
      [location, text, readAt],
    );
  }
}
