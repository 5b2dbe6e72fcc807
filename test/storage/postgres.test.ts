/** Starting on Postgres: alone, several at once, on a newer schema, on nothing; and news from other nodes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { schema } from "../../src/app/schema.ts";
import { plainToken } from "../kit/plain-token.ts";
import { openTokenStore } from "../../src/auth/index.ts";
import { openLedgerStore } from "../../src/ledger/index.ts";
import { type PostgresStorage, StorageError, withoutPassword } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { runCli } from "../kit/index.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";
import { until } from "../kit/until.ts";

/** Each step of the schema that is for Postgres is a version. */
const version = schema.steps.filter(({ postgres }) => postgres !== undefined).length;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

async function open(url: string): Promise<PostgresStorage> {
  const storage = await openStorage(url);
  if (storage.engine !== "postgres") throw new Error(`${url} is no Postgres`);
  return storage;
}

async function refusalOf(url: string): Promise<StorageError> {
  const reason: unknown = await open(url).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(reason instanceof StorageError)) throw new Error(`no refusal: ${String(reason)}`);
  return reason;
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const admin = new SQL(url, { max: 1 });
  try {
    return await admin.unsafe(sql);
  } finally {
    await admin.close();
  }
}

describe("the schema", () => {
  test("is made once by five processes that start at once on an empty database", async () => {
    const url = await server.createEmptyDatabase();
    const commands = Array.from({ length: 5 }, () => runCli(["ledger", "audit", "--json", "--storage", url]));
    for (const { code, stdout, stderr } of await Promise.all(commands)) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(JSON.parse(stdout)).toMatchObject({ ok: true, accounts: 0 });
    }
    expect(await query(url, "SELECT count(*)::int AS rows, max(version)::int AS version FROM tollgate_schema")).toEqual(
      [{ rows: 1, version }],
    );
  });

  test("is made once by five connections of one process, and used by all", async () => {
    const url = await server.createEmptyDatabase();
    const storages = await Promise.all(Array.from({ length: 5 }, () => open(url)));
    const audits = storages.map((storage) => openLedgerStore(storage).audit());
    for (const report of await Promise.all(audits)) expect(report).toMatchObject({ accounts: 0, drifts: [] });
    for (const storage of storages) await storage.close();
  });

  test("stops the start with one line if it is newer than the code", async () => {
    const url = await server.createDatabase();
    await (await open(url)).close();
    await query(url, "UPDATE tollgate_schema SET version = 99, oldest = 99");
    expect((await refusalOf(url)).message).toBe(
      `storage: its schema is version 99, this Tollgate knows ${version}; use a newer Tollgate`,
    );
    const { code, stderr } = await runCli(["token", "list", "--storage", url]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^tollgate: storage: its schema is version 99.*\n$/);
    expect(await query(url, "SELECT version::int FROM tollgate_schema")).toEqual([{ version: 99 }]);
  });

  test("is migrated from its first step: open holds continue, and the old functions are dropped", async () => {
    const url = await server.createEmptyDatabase();
    await query(url, await Bun.file(new URL("__fixtures__/postgres-step-1.sql", import.meta.url)).text());
    await query(
      url,
      `CREATE TABLE tollgate_schema (version bigint NOT NULL);
      INSERT INTO tollgate_schema VALUES (1);
      INSERT INTO accounts (id, kind, name, prepaid, credits_posted, debits_pending, created_at)
        VALUES ('user:u', 'user', 'u', true, 100, 30, 1);
      INSERT INTO entries VALUES ('g', 'grant', 'bank', 'user:u', 100, 0, 0, 1);
      INSERT INTO holds VALUES ('a', 'user:u', 10, 'chat up/m', NULL, 9, 1), ('b', 'user:u', 20, 'chat up/m', NULL, 9, 1);`,
    );

    const storage = await open(url);
    const ledger = openLedgerStore(storage);
    expect(await ledger.audit()).toMatchObject({ openHolds: 2, drifts: [] });
    const settle = { kind: "settle", id: "a", amount: 7n, at: 2 } as const;
    expect(await ledger.commit([settle])).toEqual([{ outcome: "settled", shortfall: 0n }]);
    expect(await ledger.commit([{ kind: "sweep", at: 10 }])).toEqual([{ outcome: "swept", expired: 1 }]);
    expect(await ledger.audit()).toMatchObject({ entries: 3, openHolds: 0, drifts: [] });
    await storage.close();
    expect(await query(url, "SELECT id, outcome FROM generations")).toEqual([{ id: "b", outcome: "expired" }]);
    const twice = "SELECT proname FROM pg_proc WHERE proname LIKE 'ledger_%' GROUP BY proname HAVING count(*) > 1";
    expect(await query(url, twice)).toEqual([]);
  });

  test("is left alone where making it fails half way", async () => {
    const url = await server.createEmptyDatabase();
    await query(url, "CREATE TABLE entries (mine int)");
    expect((await refusalOf(url)).message).toContain('relation "entries" already exists');
    expect(await query(url, "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'")).toEqual([
      { tablename: "entries" },
    ]);
  });
});

describe("a database that can't be used stops the start with one line, without the password", () => {
  test("nothing listens", async () => {
    const free = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const { port } = free;
    free.stop(true);
    const url = `postgres://me:secret-word@127.0.0.1:${port}/books`;
    const { message } = await refusalOf(url);
    expect(message).toMatch(new RegExp(`^storage: cannot use Postgres at 127\\.0\\.0\\.1:${port}/books: .*REFUSED.*$`));
    expect(message).not.toContain("secret-word");
    const { code, stderr } = await runCli(["serve", "--port", "0", "--storage", url]);
    expect(code).toBe(1);
    expect(stderr).toBe(`tollgate: ${message}\n`);
  });

  test.each([
    ["postgres://me:secret@host:5433/books?sslmode=require", "postgres://me@host:5433/books"],
    ["postgresql://host/books?user=me&password=secret", "postgresql://host/books"],
    ["sqlite:data/tollgate.db", "sqlite:data/tollgate.db"],
  ])("%s is shown as %s", (url, shown) => {
    expect(withoutPassword(url)).toBe(shown);
  });

  test("somebody listens and never answers", async () => {
    const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const begun = performance.now();
    expect((await refusalOf(`postgres://me@127.0.0.1:${silent.port}/books`)).message).toMatch(/^storage: cannot use/);
    expect(performance.now() - begun).toBeLessThan(15_000);
    silent.stop(true);
  });

  test("there is no such database", async () => {
    const url = (await server.createDatabase()).replace(/\w+$/, "nowhere");
    expect((await refusalOf(url)).message).toContain('database "nowhere" does not exist');
  });

  test("the URL is invalid", async () => {
    expect((await refusalOf("postgres://")).message).toMatch(/^storage: /);
    expect((await refusalOf("mysql://localhost/books")).message).toContain('"mysql" is no storage');
  });
});

describe("changes by another node", () => {
  const account = {
    id: "token:a",
    kind: "token",
    name: "a",
    parentId: undefined,
    prepaid: false,
    maxBudget: undefined,
    period: undefined,
  } as const;
  const token = { ...plainToken, id: "t", user: "u", accountId: account.id };

  test("are announced, also after the server was down, and not after the watch has stopped", async () => {
    const url = await server.createDatabase();
    const [here, there] = [await open(url), await open(url)];
    await openLedgerStore(there).putAccount(account, 1);
    const tokens = openTokenStore(there);
    await tokens.insert(token);

    let told = 0;
    const unwatch = here.onForeignCommit(() => (told += 1));
    // A new connection may have missed an announcement, and counts as one.
    await until("the watcher listens", () => told === 1);
    await tokens.revoke("t", 5);
    await until("the revocation is told", () => told === 2);

    await server.crash();
    await server.start();
    await until("the watcher listens again", () => told > 2, 10_000);
    const before = told;
    await tokens.revoke("t", 6);
    await until("it is told again", () => told > before);

    unwatch();
    const after = told;
    const other = Promise.withResolvers<void>();
    const unwatchOther = here.onForeignCommit(() => other.resolve());
    await tokens.revoke("t", 7);
    await other.promise;
    expect(told).toBe(after);
    unwatchOther();
    await here.close();
    await there.close();
  });

  test("stay unheard by a storage that is closed", async () => {
    const url = await server.createDatabase();
    const storage = await open(url);
    let told = 0;
    storage.onForeignCommit(() => (told += 1));
    await storage.close();
    await query(url, "NOTIFY tollgate_changes");
    const left = await query(
      url,
      "SELECT count(*)::int AS connections FROM pg_stat_activity WHERE query LIKE 'LISTEN%'",
    );
    expect(left).toEqual([{ connections: 0 }]);
    expect(told).toBeLessThanOrEqual(1);
  });
});
