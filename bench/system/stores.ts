/** Both storages without a gateway: a SQLite file, and a real Postgres that waits for its disk. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../../test/kit/storage.ts";
import { startPostgres } from "../../test/kit/postgres.ts";

export interface StoreUnderTest {
  name: string;
  url: string;
  storage: Storage;
  /** For files of the measurement; removed at its end. */
  folder: string;
}

/** Calls `measure` with an empty storage of each engine, one after the other. */
export async function onEachStore<T>(measure: (store: StoreUnderTest) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (const name of ["SQLite", "Postgres"]) {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-bench-store-"));
    const server = name === "Postgres" ? await startPostgres({ durable: true }) : undefined;
    try {
      const url = (await server?.createDatabase()) ?? `sqlite:${join(folder, "bench.db")}`;
      const storage = await openStorage(url);
      try {
        results.push(await measure({ name, url, storage, folder }));
      } finally {
        await storage.close();
      }
    } finally {
      await server?.stop();
      rmSync(folder, { recursive: true });
    }
  }
  return results;
}
