import { column, runnerOf, sql, type Storage, tableOf } from "../../storage/index.ts";
import type { CatalogStore } from "../operator-catalog/index.ts";

const { text, integer, named } = column;

const catalogs = tableOf({ text: named("content", text), readAt: integer });

const moments = tableOf({ readAt: integer });

/** The store of the operator's price catalog. */
export function openCatalogStore(storage: Storage): CatalogStore {
  const runner = runnerOf(storage);
  return {
    find: (location) =>
      runner.first(sql`SELECT ${catalogs.names} FROM price_catalog WHERE location = ${location}`, catalogs.read),
    readAt: async (location) => {
      const found = sql`SELECT read_at FROM price_catalog WHERE location = ${location}`;
      return (await runner.first(found, moments.read))?.readAt;
    },
    put: (location, catalog) =>
      runner.run(sql`INSERT INTO price_catalog (slot, location, ${catalogs.names})
        VALUES (1, ${location}, ${catalogs.values(catalog)})
        ON CONFLICT (slot) DO UPDATE
        SET location = excluded.location, content = excluded.content, read_at = excluded.read_at`),
  };
}
