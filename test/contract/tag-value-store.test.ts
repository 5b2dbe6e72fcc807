/** The contract of every `TagValueStore`, on either engine. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openStorage } from "../kit/storage.ts";
import { type PostgresServer, sorted, startPostgres } from "../kit/index.ts";
import { openTagValueStore } from "../../src/tags/index.ts";

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

test.each([
  ["SQLite", () => Promise.resolve("sqlite::memory:")],
  ["Postgres", () => postgres.createDatabase()],
] as const)("values of tags on %s", async (_engine, newStorage) => {
  const storage = await openStorage(await newStorage());
  const store = openTagValueStore(storage);
  const place = { organisation: "acme", key: "team" };
  expect(sorted(await store.add(place, "a", 3))).toEqual(["a"]);
  expect(sorted(await store.add(place, "a", 3))).toEqual(["a"]);
  expect(sorted(await store.add({ ...place, key: "env" }, "z", 3))).toEqual(["z"]);
  expect(sorted(await store.add({ ...place, organisation: "beta" }, "y", 3))).toEqual(["y"]);
  expect(sorted(await store.add(place, "'; DROP TABLE tag_values; --", 3))).toHaveLength(2);
  // Many processes add values at the same time.
  const added = await Promise.all(Array.from({ length: 40 }, (_each, index) => store.add(place, `n${index}`, 12)));
  for (const values of added) expect(values.size).toBeLessThanOrEqual(12);
  const all = await store.add(place, "late", 12);
  expect([all.size, all.has("late"), all.has("a")]).toEqual([12, false, true]);
  await storage.close();
});
