import { expect, test } from "bun:test";
import { openStorage } from "../../../test/kit/storage.ts";
import { renameKey } from "./rename-keys.ts";

const ROWS = 1_300;

test("all records of a key get its new id, while other work goes on", async () => {
  const storage = await openStorage("sqlite::memory:");
  if (storage.engine !== "sqlite") throw new Error("the storage is SQLite");
  const { handle } = storage;
  const keys = (table: string): unknown =>
    handle.query(`SELECT key_id, count(*) AS rows FROM ${table} GROUP BY key_id ORDER BY key_id`).all();
  const response = handle.prepare(`INSERT INTO responses (id, owner, provider, model, created_at, kept_until, key_id)
    VALUES (?, 'u', ?, 'm', 0, 0, ?)`);
  const object = handle.prepare(`INSERT INTO stored_objects (id, provider, kind, owner, key_id, kept_until)
    VALUES (?, ?, 'item', 'u', ?, 0)`);
  for (let row = 0; row < ROWS; row += 1) {
    // One in ten is of another provider, one in ten of another key.
    const [provider, key] = [row % 10 === 0 ? "azure" : "openai", row % 10 === 1 ? "other" : "hash"];
    response.run(`resp_${row}`, provider, key);
    object.run(`item_${row}`, provider, key);
  }
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 0);
  await renameKey(storage, { provider: "openai", from: "hash", to: "prod" });
  clearInterval(counting);
  const expected = [
    { key_id: "hash", rows: 130n },
    { key_id: "other", rows: 130n },
    { key_id: "prod", rows: 1_040n },
  ];
  expect([keys("responses"), keys("stored_objects")]).toEqual([expected, expected]);
  expect(turns).toBeGreaterThan(0);
  await storage.close();
});
