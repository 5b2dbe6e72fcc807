import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SqliteStorage, StorageError } from "./index.ts";
import { migrateSqlite } from "./sqlite/migrate.ts";
import { engineSteps, openStorage, sqliteSteps as migrations } from "../../test/kit/storage.ts";

let folder: string;
let opened: SqliteStorage[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-storage-"));
  opened = [];
});
afterEach(async () => {
  for (const storage of opened) await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(path: string): Promise<SqliteStorage> {
  const storage = await openStorage(`sqlite:${path}`);
  if (storage.engine !== "sqlite") throw new Error("not SQLite");
  opened.push(storage);
  return storage;
}

async function refusalOf(url: string): Promise<Error> {
  const reason: unknown = await openStorage(url).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(reason instanceof Error)) throw new Error(`was opened: ${String(reason)}`);
  return reason;
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

function pragma(storage: SqliteStorage, name: string): unknown {
  return Object.values(storage.handle.query<Record<string, unknown>, []>(`PRAGMA ${name}`).get() ?? {})[0];
}

const version = (storage: SqliteStorage): number => Number(pragma(storage, "user_version"));

const insertAccount = "INSERT INTO accounts (id, kind, name, prepaid, created_at) VALUES ('user:u', 'user', 'u', 1, 0)";

describe("a SQLite file", () => {
  test("is created with its folder, readable by its owner only", async () => {
    const path = join(folder, "deep", "er", "t.db");
    const storage = await open(path);
    storage.handle.run(insertAccount);
    expect(modeOf(path)).toBe("600");
    // These files contain pages that have not been checkpointed yet.
    expect(modeOf(`${path}-wal`)).toBe("600");
    expect(modeOf(`${path}-shm`)).toBe("600");
  });

  test("that others could read is made private", async () => {
    const path = join(folder, "t.db");
    await (await open(path)).close();
    chmodSync(path, 0o644);
    await open(path);
    expect(modeOf(path)).toBe("600");
  });

  test("uses a write-ahead log, checks its references, and waits for other writers", async () => {
    const storage = await open(join(folder, "t.db"));
    expect(pragma(storage, "journal_mode")).toBe("wal");
    expect(pragma(storage, "foreign_keys")).toBe(1n);
    expect(pragma(storage, "synchronous")).toBe(1n);
    // For a moment: the process stands still meanwhile. Stores try again for five seconds.
    expect(pragma(storage, "busy_timeout")).toBe(5n);
  });

  test("is flushed at each commit if the URL requests it", async () => {
    const storage = await open(`${join(folder, "t.db")}?synchronous=full`);
    expect(pragma(storage, "synchronous")).toBe(2n);
    expect(existsSync(join(folder, "t.db"))).toBe(true);
  });

  test("may be in memory", async () => {
    const storage = await open(":memory:");
    expect(version(storage)).toBe(migrations.length);
    expect(existsSync(":memory:")).toBe(false);
  });
});

describe("a storage that can't be used is refused with one line", () => {
  const lines = async (url: string): Promise<string> => {
    const refusal = await refusalOf(url);
    expect(refusal).toBeInstanceOf(StorageError);
    expect(refusal.message).toMatch(/^storage: [^\n]+$/);
    return refusal.message;
  };

  test("an unknown engine", async () => {
    expect(await lines("mysql://user:secret@host/db")).toContain(`"mysql"`);
    expect(await lines("mysql://user:secret@host/db")).not.toContain("secret");
  });

  test("a URL without an engine", async () => {
    expect(await lines("data/t.db")).toContain("sqlite:PATH");
  });

  test("a folder that cannot be created", async () => {
    writeFileSync(join(folder, "file"), "");
    expect(await lines(`sqlite:${join(folder, "file", "t.db")}`)).toContain(join(folder, "file", "t.db"));
  });

  test("a folder in place of the file", async () => {
    expect(await lines(`sqlite:${folder}`)).toContain(folder);
  });

  test("a file that is not a database", async () => {
    const path = join(folder, "t.db");
    writeFileSync(path, "not a database, but long enough to be looked at as one ".repeat(40));
    expect(await lines(`sqlite:${path}`)).toContain("not a database");
  });

  test("an unknown synchronous mode", async () => {
    expect(await lines("sqlite::memory:?synchronous=sometimes")).toContain(`"sometimes"`);
  });
});

describe("the schema", () => {
  test("of a fresh file is the newest", async () => {
    const storage = await open(join(folder, "t.db"));
    expect(version(storage)).toBe(migrations.length);
    const tables = storage.handle
      .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .all();
    expect(tables.map(({ name }) => name)).toContainValues(["accounts", "entries", "holds", "tokens"]);
  });

  test("is created once: a reopened file keeps its content", async () => {
    const path = join(folder, "t.db");
    const first = await open(path);
    first.handle.run(insertAccount);
    await first.close();
    opened = [];
    const second = await open(path);
    expect(version(second)).toBe(migrations.length);
    expect(second.handle.query<{ id: string }, []>("SELECT id FROM accounts").all()).toEqual([{ id: "user:u" }]);
  });

  test("is migrated from every earlier version to the same schema as a new file", () => {
    const schemaFrom = (earlier: number): unknown => {
      const database = new Database(":memory:");
      for (const migration of migrations.slice(0, earlier)) database.run(migration);
      database.run(`PRAGMA user_version = ${earlier}`);
      migrateSqlite(database, engineSteps);
      const schema = database.query("SELECT type, name, sql FROM sqlite_master ORDER BY name").all();
      database.close();
      return schema;
    };
    for (const earlier of migrations.keys()) expect(schemaFrom(earlier)).toEqual(schemaFrom(0));
  });

  test("counts calls that are already open", () => {
    const database = new Database(":memory:");
    database.run(migrations[0] ?? "");
    database.run("PRAGMA user_version = 1");
    const accounts = ["busy", "idle"].map((id) => `('${id}', 'token', '${id}', 0, 0)`);
    database.run(`INSERT INTO accounts (id, kind, name, prepaid, created_at) VALUES ${accounts.join(", ")}`);
    const holds = ["a", "b"].map((id) => `('${id}', 'busy', 5, 'chat', 9, 1)`);
    database.run(
      `INSERT INTO holds (id, account_id, amount, purpose, lease_until, created_at) VALUES ${holds.join(", ")}`,
    );
    migrateSqlite(database, engineSteps);
    expect(database.query("SELECT id, open_calls FROM accounts").values()).toEqual([
      ["busy", 2],
      ["idle", 0],
    ]);
  });

  test("loses no call whose entry does not reference it by number, and keeps the newer of two", () => {
    const database = new Database(":memory:", { safeIntegers: true });
    for (const migration of migrations.slice(0, 5)) database.run(migration);
    database.run("PRAGMA user_version = 5");
    const calls = ["named", "unnamed", "misnamed", "late", "late"];
    for (const [index, id] of calls.entries()) {
      database.run(`INSERT INTO generations VALUES (${index + 1}, '${id}', 'alice', 'token:t', 'chat', NULL, 'openai', 'm', 0,
        200, 'complete', '{}', 3, 4, ${10 * index}, 1.5, NULL, 20)`);
    }
    // A process started before the fifth step went on without numbers, and wrote a late end beside the expiry.
    const numbers = { named: 1, unnamed: null, misnamed: 1, late: 4, "late:late": null, uncalled: null };
    const insert = "INSERT INTO entries VALUES (?, 'settle', 'token:t', 'revenue', 30, 9, 0, 1, ?)";
    for (const [id, number] of Object.entries(numbers)) database.run(insert, [id, number]);
    migrateSqlite(database, engineSteps);
    expect(database.query("SELECT id, credits FROM generations ORDER BY credits").values()).toEqual([
      ["named", 0n],
      ["unnamed", 10n],
      ["misnamed", 20n],
      ["late", 40n],
    ]);
    expect(database.query("SELECT count(*) FROM entries").values()).toEqual([[6n]]);
    expect(database.query("SELECT count(*) FROM calls_by_owner").values()).toEqual([[4n]]);
    database.close();
  });

  test("keeps the books unchanged and append-only", () => {
    const database = new Database(":memory:", { safeIntegers: true });
    for (const migration of migrations.slice(0, 3)) database.run(migration);
    database.run("PRAGMA user_version = 3");
    const entries = [
      ["g", "grant", "bank", "user:u", 2n ** 62n, 0n, 0n, 1n],
      ["h", "settle", "token:t", "revenue", 7n, 9n, 0n, 2n],
      ["i", "release", "token:t", "revenue", 0n, 9n, 0n, 3n],
      ["j", "expire", "token:t", "revenue", 9n, 9n, 1n, 4n],
    ] as const;
    const columns = "id, kind, debit_account, credit_account, amount, held, shortfall, created_at";
    const insert = `INSERT INTO entries (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
    for (const entry of entries) database.run(insert, [...entry]);
    migrateSqlite(database, engineSteps);
    const kept = database.query(`SELECT ${columns} FROM entries ORDER BY id`).values();
    expect(kept).toEqual(entries.map((entry) => [...entry]));
    for (const damage of [
      "UPDATE entries SET amount = 0",
      "UPDATE entries SET rowid = rowid + 9",
      "DELETE FROM entries",
    ])
      expect(() => database.run(damage)).toThrow("entries are only appended");
    for (const [kind, amount] of [
      ["gift", 1n],
      ["grant", -1n],
    ] as const)
      expect(() => database.run(insert, ["k", kind, "bank", "user:u", amount, 0n, 0n, 5n])).toThrow("CHECK");
    database.close();
  });

  test("that is newer than the code stops the start with a message, and stays unchanged", async () => {
    const path = join(folder, "t.db");
    const storage = await open(path);
    storage.handle.run(`PRAGMA user_version = ${migrations.length + 3}`);
    const refusal = await refusalOf(`sqlite:${path}`);
    expect(refusal).toBeInstanceOf(StorageError);
    expect(refusal.message).toBe(
      `storage: its schema is version ${migrations.length + 3}, this Tollgate knows ${migrations.length}; use a newer Tollgate`,
    );
    expect(version(storage)).toBe(migrations.length + 3);
  });

  test("that fails half way leaves nothing behind", () => {
    const database = new Database(":memory:", { safeIntegers: true });
    // The name is taken, so a later statement of the first step fails.
    database.run("CREATE TABLE entries (x)");
    expect(() => migrateSqlite(database, engineSteps)).toThrow("entries");
    const tables = database.query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    expect(tables).toEqual([{ name: "entries" }]);
    expect(database.query("PRAGMA user_version").get()).toEqual({ user_version: 0n });
    database.close();
  });
});

test("five processes that start simultaneously on one file all come up, on one schema", async () => {
  const path = join(folder, "t.db");
  const source = `
    const { openStorage } = await import(${JSON.stringify(join(import.meta.dir, "../../test/kit/storage.ts"))});
    console.log("ready");
    await new Response(Bun.stdin.stream()).text();
    const storage = await openStorage(${JSON.stringify(`sqlite:${path}`)});
    storage.handle.run("INSERT INTO accounts (id, kind, name, prepaid, created_at) VALUES ('user:' || " + process.pid + ", 'user', 'u', 1, 0)");
    storage.close();
  `;
  const processes = Array.from({ length: 5 }, () =>
    Bun.spawn([process.execPath, "-e", source], { stdin: "pipe", stdout: "pipe", stderr: "pipe" }),
  );
  // All processes wait at the same line before any of them continues.
  const ready = await Promise.all(processes.map(async ({ stdout }) => (await stdout.getReader().read()).value));
  expect(ready.map((bytes) => Buffer.from(bytes ?? []).toString())).toEqual(processes.map(() => "ready\n"));
  for (const { stdin } of processes) void stdin.end();
  const errors = await Promise.all(
    processes.map(async ({ stderr, exited }) => ({ code: await exited, stderr: await new Response(stderr).text() })),
  );
  expect(errors).toEqual(processes.map(() => ({ code: 0, stderr: "" })));

  const storage = await open(path);
  expect(version(storage)).toBe(migrations.length);
  expect(storage.handle.query("SELECT count(*) AS n FROM accounts").get()).toEqual({ n: 5n });
});

describe("another process's commits", () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  async function watched(): Promise<{
    own: SqliteStorage;
    other: SqliteStorage;
    seen: () => number;
    stop: () => void;
  }> {
    const path = join(folder, "t.db");
    const own = await open(path);
    const other = await open(path);
    let count = 0;
    const stop = own.onForeignCommit(() => (count += 1));
    return { own, other, seen: () => count, stop };
  }

  const insert = (storage: SqliteStorage, id: string): void => {
    storage.handle.run("INSERT INTO accounts (id, kind, name, prepaid, created_at) VALUES (?, 'user', 'u', 1, 0)", [
      id,
    ]);
  };

  test("are noticed within 200 ms, each once", async () => {
    const { other, seen } = await watched();
    insert(other, "a");
    jest.advanceTimersByTime(199);
    expect(seen()).toBe(0);
    jest.advanceTimersByTime(1);
    expect(seen()).toBe(1);
    jest.advanceTimersByTime(10_000);
    expect(seen()).toBe(1);
    insert(other, "b");
    insert(other, "c");
    jest.advanceTimersByTime(200);
    expect(seen()).toBe(2);
  });

  test("are distinguished from our own", async () => {
    const { own, seen } = await watched();
    insert(own, "a");
    jest.advanceTimersByTime(1_000);
    expect(seen()).toBe(0);
  });

  test("before the start of the watch are not reported", async () => {
    const path = join(folder, "t.db");
    const own = await open(path);
    insert(await open(path), "a");
    let count = 0;
    own.onForeignCommit(() => (count += 1));
    jest.advanceTimersByTime(1_000);
    expect(count).toBe(0);
  });

  test("are noticed later if the file cannot be read meanwhile", async () => {
    const path = join(folder, "t.db");
    const [own, other] = [await open(path), await open(path)];
    const query = own.handle.query.bind(own.handle);
    let isBroken = false;
    const statement = query<{ data_version: bigint }, []>("PRAGMA data_version");
    const get = (): { data_version: bigint } | null => {
      if (isBroken) throw new Error("disk I/O error");
      return statement.get();
    };
    Object.assign(own.handle, { query: () => ({ get }) });
    let count = 0;
    own.onForeignCommit(() => (count += 1));
    Object.assign(own.handle, { query });
    isBroken = true;
    insert(other, "a");
    jest.advanceTimersByTime(1_000);
    expect(count).toBe(0);
    isBroken = false;
    jest.advanceTimersByTime(200);
    expect(count).toBe(1);
  });

  test("are not watched any more after the watch has been stopped", async () => {
    const { other, seen, stop } = await watched();
    stop();
    insert(other, "a");
    jest.advanceTimersByTime(1_000);
    expect(seen()).toBe(0);
  });

  test("are not watched in a closed file", async () => {
    const { own, other, seen } = await watched();
    await own.close();
    insert(other, "a");
    expect(() => jest.advanceTimersByTime(1_000)).not.toThrow();
    expect(seen()).toBe(0);
  });
});
