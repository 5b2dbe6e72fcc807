/** Writes that meet the write lock of another connection to the file. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStorage } from "../../../test/kit/storage.ts";
import type { SqliteStorage } from "../index.ts";
import { retried } from "./retry-locked.ts";

let folder: string;
let storage: SqliteStorage;
let other: Database;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-locked-"));
  const opened = await openStorage(`sqlite:${join(folder, "t.db")}`);
  if (opened.engine !== "sqlite") throw new Error("not SQLite");
  storage = opened;
  storage.handle.run("CREATE TABLE written (n INTEGER)");
  other = new Database(join(folder, "t.db"));
});
afterEach(async () => {
  other.close();
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

class Store {
  attempts = 0;

  async write(n: number): Promise<void> {
    await retried(() => {
      this.attempts += 1;
      storage.handle.run("INSERT INTO written VALUES (?)", [n]);
    });
  }
}

const written = (): number[] =>
  storage.handle
    .query<{ n: bigint }, []>("SELECT n FROM written ORDER BY rowid")
    .all()
    .map(({ n }) => Number(n));

describe("writes that wait for the lock", () => {
  test("are all done once it is free, in their order", async () => {
    const store = new Store();
    other.run("BEGIN IMMEDIATE");
    const all = Array.from({ length: 20 }, (_, n) => store.write(n));
    await Bun.sleep(50);
    expect(written()).toEqual([]);
    other.run("COMMIT");
    await Promise.all(all);
    expect(written()).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });

  test("hold the process up no longer together than one alone", async () => {
    const store = new Store();
    other.run("BEGIN IMMEDIATE");
    const began = performance.now();
    const all = Array.from({ length: 40 }, (_, n) => store.write(n));
    await Bun.sleep(400);
    const retries = store.attempts - 40;
    // One of them tries again for all.
    expect(retries).toBeGreaterThan(1);
    expect(retries).toBeLessThan((performance.now() - began) / 10);
    other.run("COMMIT");
    await Promise.all(all);
    expect(written()).toHaveLength(40);
  });

  test("do not keep back one that comes when it is free", async () => {
    const store = new Store();
    other.run("BEGIN IMMEDIATE");
    const first = store.write(1);
    other.run("COMMIT");
    await store.write(2);
    await first;
    expect(new Set(written())).toEqual(new Set([1, 2]));
  });

  test("all fail after the same time if it stays, and later ones are done", async () => {
    const store = new Store();
    other.run("BEGIN IMMEDIATE");
    const ending = Promise.allSettled([store.write(1), store.write(2), store.write(3)]);
    const now = performance.now();
    const later = spyOn(performance, "now").mockImplementation(() => now + 5_001);
    const ends = await ending.finally(() => later.mockRestore());
    expect(ends.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    other.run("COMMIT");
    await store.write(4);
    expect(written()).toEqual([4]);
  });
});

test("another error is thrown at once, as without retries", () => {
  const fail = (): number => {
    throw new Error("something else");
  };
  expect(() => void retried(fail)).toThrow("something else");
});
