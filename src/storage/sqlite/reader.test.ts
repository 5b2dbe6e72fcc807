import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { column, readerOf, runnerOf, sql, type SqliteStorage, tableOf } from "../index.ts";
import { openSqlite } from "./open.ts";

const ROWS = 20_000;

const pieces = tableOf<{ number: number; amount: bigint; share: number; name: string | undefined; hash: Uint8Array }>({
  number: column.integer,
  amount: column.bigInteger,
  share: column.real,
  name: column.optional(column.text),
  hash: column.bytes,
});
const all = sql`SELECT ${pieces.names} FROM pieces ORDER BY number`;

let folder: string;
let storage: SqliteStorage;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "reader-"));
  storage = open();
  storage.handle.run(
    "CREATE TABLE pieces (number INTEGER PRIMARY KEY, amount INTEGER, share REAL, name TEXT, hash BLOB) STRICT",
  );
  storage.handle.run(`WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ${ROWS})
    INSERT INTO pieces SELECT value, 9007199254740993 + value, value / 4.0, iif(value % 2, 'n' || value, NULL), zeroblob(3)
    FROM n`);
});

afterAll(async () => {
  await storage.close();
  rmSync(folder, { recursive: true });
});

function open(): SqliteStorage {
  const schema = { steps: [], beforeSqlite: () => undefined };
  return openSqlite(join(folder, "read.db"), {
    schema,
    prepare: { sqlite: () => "UTC", postgres: () => Promise.resolve("UTC") },
  });
}

function refusalOf(read: Promise<unknown>): Promise<unknown> {
  return read.then(
    () => undefined,
    (reason: unknown) => reason,
  );
}

describe("a thread that reads", () => {
  test("finds what this one finds, with values of every kind", async () => {
    const [read, own] = await Promise.all([
      readerOf(storage).rows(all, pieces.read),
      runnerOf(storage).rows(all, pieces.read),
    ]);
    expect(read).toHaveLength(ROWS);
    expect(read).toEqual(own);
    expect(read[0]?.amount).toBe(9_007_199_254_740_994n);
  });

  test("finds each commit before, and nothing of a transaction under way", async () => {
    const last = sql`SELECT ${pieces.names} FROM pieces ORDER BY number DESC LIMIT 1`;
    for (let count = 1; count <= 50; count += 1) {
      storage.handle.run(`INSERT INTO pieces VALUES (${ROWS + count}, 1, 0.5, NULL, x'00')`);
      expect((await readerOf(storage).first(last, pieces.read))?.number).toBe(ROWS + count);
    }
    storage.handle.run("BEGIN IMMEDIATE");
    storage.handle.run("DELETE FROM pieces WHERE number > ?", [ROWS]);
    expect((await readerOf(storage).first(last, pieces.read))?.number).toBe(ROWS + 50);
    storage.handle.run("COMMIT");
    expect((await readerOf(storage).first(last, pieces.read))?.number).toBe(ROWS);
  });

  test("answers statements that run at once each with its own rows", async () => {
    const found = await Promise.all(
      [1, 700, 3, 1_900].map((count) =>
        readerOf(storage).rows(sql`SELECT ${pieces.names} FROM pieces WHERE number <= ${count}`, pieces.read),
      ),
    );
    expect(found.map(({ length }) => length)).toEqual([1, 700, 3, 1_900]);
  });

  test("writes nothing", async () => {
    const written = readerOf(storage).run(sql`DELETE FROM pieces`);
    expect(await refusalOf(written)).toMatchObject({ code: "storage_unavailable" });
    expect(await readerOf(storage).rows(all, pieces.read)).toHaveLength(ROWS);
  });

  test("says what is wrong with a statement, and goes on", async () => {
    expect(await refusalOf(readerOf(storage).run(sql`SELECT nothing FROM nowhere`))).toBeInstanceOf(Error);
    expect(await readerOf(storage).hasRows(all)).toBe(true);
  });

  test("has answered what was asked before it is stopped, and nothing after", async () => {
    const other = open();
    const before = readerOf(other).rows(all, pieces.read);
    const closed = other.close();
    expect(await before).toHaveLength(ROWS);
    await closed;
    expect(await refusalOf(readerOf(other).hasRows(all))).toMatchObject({ code: "storage_unavailable" });
  });
});
