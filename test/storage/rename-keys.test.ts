import { describe, expect, test } from "bun:test";
import { renameKey } from "../../src/objects/index.ts";
import { openStorage } from "../kit/storage.ts";
import { engines, query, sharedPostgres } from "../kit/index.ts";

const ROWS = 1_300;

const { createDatabase } = sharedPostgres();

/** One in ten is of another provider, one in ten of another key; ids have letters of either case, which languages sort otherwise. */
const placeOf = (row: number): string => {
  const [provider, key] = [row % 10 === 0 ? "azure" : "openai", row % 10 === 1 ? "other" : "hash"];
  return `'${row % 2 === 0 ? "a" : "B"}_${row}', '${provider}', '${key}'`;
};

describe.each(engines)("on %s", (engine) => {
  test("all records of a key get its new id, while other work goes on", async () => {
    const storage = await openStorage(engine === "Postgres" ? await createDatabase() : "sqlite::memory:");
    const all = (rest: string): string => Array.from({ length: ROWS }, (_, row) => `(${placeOf(row)}, ${rest})`).join();
    const columns = "id, provider, key_id";
    await query(
      storage,
      `INSERT INTO responses (${columns}, owner, model, created_at, kept_until) VALUES ${all("'u', 'm', 0, 0")}`,
    );
    await query(
      storage,
      `INSERT INTO stored_objects (${columns}, kind, owner, kept_until) VALUES ${all("'item', 'u', 0")}`,
    );
    const keys = (table: string): Promise<unknown[]> =>
      query(storage, `SELECT key_id, count(*) AS rows FROM ${table} GROUP BY key_id ORDER BY key_id`);
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 0);
    await renameKey(storage, { provider: "openai", from: "hash", to: "prod" });
    // A repetition changes nothing.
    await renameKey(storage, { provider: "openai", from: "hash", to: "prod" });
    clearInterval(counting);
    const expected = [
      { key_id: "hash", rows: 130n },
      { key_id: "other", rows: 130n },
      { key_id: "prod", rows: 1_040n },
    ];
    expect([await keys("responses"), await keys("stored_objects")]).toEqual([expected, expected]);
    expect(turns).toBeGreaterThan(0);
    await storage.close();
  });
});
