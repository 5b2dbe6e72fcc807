import { afterEach, beforeEach, expect, test } from "bun:test";
import { openStorage } from "../../../test/kit/storage.ts";
import { runnerOf, type SqliteStorage } from "../../storage/index.ts";
import { LateEntries, PostgresFollower } from "./followers.ts";

let storage: SqliteStorage;
beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
});
afterEach(() => storage.close());

function put(id: string, createdAt: number): void {
  storage.handle.run(
    `INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
     VALUES (?, 'settle', 'token:a', 'revenue', 0, 0, 0, ?)`,
    [id, createdAt],
  );
}

/** The table of entries has the same columns on SQLite. */
test("all followers of a process share the reads of entries, which have those that were committed late", async () => {
  const entries = new LateEntries(runnerOf(storage), () => 5_000);
  const followers = Array.from({ length: 32 }, () => new PostgresFollower(runnerOf(storage), {}, entries));
  put("old", 1_000);
  for (const follower of followers) await follower.next(1);
  const { reads, end } = entries;
  put("new", 4_000);
  put("late", 900);
  for (let polls = 0; polls < 10; polls += 1) for (const follower of followers) await follower.next(1);
  expect(entries.reads - reads).toBeLessThanOrEqual(10);
  expect(entries.after(end)).toEqual(["new", "late"]);
});
