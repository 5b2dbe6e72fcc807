import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTokenStore } from "../../src/auth/index.ts";
import { openLedgerStore } from "../../src/ledger/index.ts";
import { type SqliteStorage, StorageError } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { describeLedgerStore, type OpenedLedgerStore } from "./ledger-store.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-ledger-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A file with the tables and no rows: a copy takes a tenth of the time of the migrations. */
const migrated = join(folder, "migrated.db");
beforeAll(async () => {
  await (await openStorage(`sqlite:${migrated}`)).close();
});

let files = 0;

async function connect(url: string): Promise<SqliteStorage> {
  const storage = await openStorage(url);
  if (storage.engine !== "sqlite") throw new Error(`${url} is no SQLite file`);
  return storage;
}

async function openSqliteLedger(): Promise<OpenedLedgerStore> {
  files += 1;
  const file = join(folder, `${files}.db`);
  copyFileSync(migrated, file);
  const url = `sqlite:${file}`;
  const first = await connect(url);
  const connections = [first];
  return {
    store: openLedgerStore(first),
    tokens: openTokenStore(first),
    connectAgain: async () => {
      const again = await connect(url);
      connections.push(again);
      return openLedgerStore(again);
    },
    query: async (sql) => first.handle.query<Record<string, unknown>, []>(sql).all(),
    close: async () => {
      for (const connection of connections) await connection.close();
    },
  };
}

describeLedgerStore("sqlite", openSqliteLedger);

describe("a ledger in a SQLite file", () => {
  const account = {
    id: "user:u",
    kind: "user",
    name: "u",
    parentId: undefined,
    prepaid: true,
    maxBudget: undefined,
    period: undefined,
  } as const;

  test("exists when the file is reopened", async () => {
    const url = `sqlite:${join(folder, "kept.db")}`;
    const first = await openStorage(url);
    const before = openLedgerStore(first);
    await before.putAccount(account, 1);
    await before.commit([
      { kind: "grant", id: "g", accountId: account.id, amount: 100n, at: 1 },
      {
        kind: "hold",
        id: "h",
        accountId: account.id,
        amount: 60n,
        operation: "chat",
        provider: "up",
        model: "m",
        dialect: undefined,
        streamed: false,
        at: 1,
        leaseUntil: 2,
      },
    ]);
    const state = await before.chain(account.id, 1);
    await first.close();

    const second = await openStorage(url);
    const after = openLedgerStore(second);
    expect(await after.chain(account.id, 1)).toEqual(state);
    expect(await after.commit([{ kind: "settle", id: "h", amount: 25n, at: 3 }])).toEqual([
      { outcome: "settled", shortfall: 0n },
    ]);
    expect(await after.audit()).toMatchObject({ openHolds: 0, drifts: [] });
    await second.close();
  });

  test("keeps amounts beyond 53 bits exact", async () => {
    const { store, close } = await openSqliteLedger();
    const amount = 2n ** 60n + 1n;
    await store.putAccount(account, 1);
    await store.commit([{ kind: "grant", id: "g", accountId: account.id, amount, at: 1 }]);
    await store.commit([
      {
        kind: "hold",
        id: "h",
        accountId: account.id,
        amount: amount - 1n,
        operation: "chat",
        provider: "up",
        model: "m",
        dialect: undefined,
        streamed: false,
        at: 1,
        leaseUntil: 2,
      },
    ]);
    expect(await store.chain(account.id, 1)).toMatchObject([{ creditsPosted: amount, debitsPending: amount - 1n }]);
    await close();
  });

  test("knows late entries after more of them than are looked back", async () => {
    const { store, connectAgain, query, close } = await openSqliteLedger();
    await store.putAccount(account, 1);
    const grant = (id: string, at: number) => ({ kind: "grant", id, accountId: account.id, amount: 1n, at }) as const;
    await store.commit([grant("on-time", 7_200_000)]);
    await store.commit(Array.from({ length: 1_001 }, (_, number) => grant(`late-${number}`, 1)));
    // Another process reads the latest time again.
    await (await connectAgain()).commit([grant("late-last", 1)]);
    expect(await query("SELECT count(*) AS late FROM late_entries")).toEqual([{ late: 1_002n }]);
    await close();
  });

  test("is one, however often its store is asked for", async () => {
    const storage = await connect("sqlite::memory:");
    const one = openLedgerStore(storage);
    await one.putAccount(account, 1);
    expect(await one.chain(account.id, 1)).toMatchObject([{ creditsPosted: 0n }]);
    await openLedgerStore(storage).commit([{ kind: "grant", id: "g", accountId: account.id, amount: 5n, at: 1 }]);
    expect(await one.chain(account.id, 1)).toMatchObject([{ creditsPosted: 5n }]);
    await storage.close();
  });

  test("is not written to by who does not know its schema any more", async () => {
    const path = join(folder, "newer.db");
    const storage = await connect(`sqlite:${path}`);
    const store = openLedgerStore(storage);
    await store.putAccount(account, 1);
    const grant = (id: string) => ({ kind: "grant", id, accountId: account.id, amount: 5n, at: 1 }) as const;
    expect(await store.commit([grant("a")])).toEqual([{ outcome: "granted" }]);
    const newer = new Database(path);
    newer.run("PRAGMA user_version = 1000");
    // Looking must not make it seem known.
    const refusals = [() => store.chain(account.id, 1), async () => store.commit([grant("b")])];
    for (const refused of [...refusals, ...refusals]) {
      expect(await refused().catch((reason: unknown) => reason)).toBeInstanceOf(StorageError);
    }
    expect(newer.query("SELECT id FROM entries").values()).toEqual([["a"]]);
    newer.close();
    await storage.close();
  });

  describe("remembers ended holds", () => {
    const hold = (id: string, amount = 5n) =>
      ({
        kind: "hold",
        id,
        accountId: account.id,
        amount,
        operation: "chat",
        provider: "up",
        model: "m",
        dialect: undefined,
        streamed: false,
        at: 1,
        leaseUntil: 2,
      }) as const;
    const release = (id: string) => ({ kind: "release", id, at: 1 }) as const;

    async function opened(): Promise<OpenedLedgerStore> {
      const each = await openSqliteLedger();
      await each.store.putAccount(account, 1);
      await each.store.commit([{ kind: "grant", id: "g", accountId: account.id, amount: 1_000n, at: 1 }]);
      return each;
    }

    async function outcomesOf({ store }: Pick<OpenedLedgerStore, "store">, ids: readonly string[]): Promise<string[]> {
      return (await store.commit(ids.map((id) => hold(id)))).map(({ outcome }) => outcome);
    }

    // JavaScript puts the second of the last two first, SQLite the first.
    const ids = ["req_5", "req_3", "", "req_9", "\uff5e", "\u{1f600}"];

    test("in whatever order ids end, none is held again and every other is", async () => {
      const each = await opened();
      for (const id of ids) {
        expect(await outcomesOf(each, [id, `${id}+`])).toEqual(["held", "held"]);
        await each.store.commit([release(id), release(`${id}+`)]);
        expect(await outcomesOf(each, [id, `${id}+`])).toEqual(["exists", "exists"]);
      }
      expect(await outcomesOf(each, ids)).toEqual(ids.map(() => "exists"));
      expect(await each.store.audit()).toMatchObject({ openHolds: 0, drifts: [] });
      await each.close();
    });

    test("by another connection as well", async () => {
      const each = await opened();
      const other = await each.connectAgain();
      for (const id of ids) {
        expect(await outcomesOf(each, [`${id}-`])).toEqual(["held"]);
        await other.commit([hold(id), release(id), release(`${id}-`)]);
        expect(await outcomesOf(each, [id, `${id}-`])).toEqual(["exists", "exists"]);
        expect(await each.store.commit([release(`${id}-`)])).toEqual([{ outcome: "exists" }]);
      }
      expect(await outcomesOf(each, ids)).toEqual(ids.map(() => "exists"));
      expect(await each.store.audit()).toMatchObject({ openHolds: 0, drifts: [] });
      await each.close();
    });

    test("and how much another connection has raised a hold to", async () => {
      const each = await opened();
      const other = await each.connectAgain();
      await each.store.commit([hold("a", 5n)]);
      await other.commit([{ kind: "top-up", id: "a", amount: 900n, at: 1 }]);
      expect(await each.store.commit([{ kind: "settle", id: "a", amount: 900n, at: 1 }])).toEqual([
        { outcome: "settled", shortfall: 0n },
      ]);
      expect(await each.store.chain(account.id, 1)).toMatchObject([{ debitsPosted: 900n, debitsPending: 0n }]);
      expect(await each.store.audit()).toMatchObject({ openHolds: 0, drifts: [] });
      await each.close();
    });

    test("but nothing of a commit that failed", async () => {
      const each = await opened();
      const failing = async (): Promise<unknown> =>
        each.store.commit([hold("b"), release("b"), hold("a"), hold("-", -1n)]);
      expect(
        await failing().then(
          () => "applied",
          () => "failed",
        ),
      ).toBe("failed");
      expect(await outcomesOf(each, ["a", "b"])).toEqual(["held", "held"]);
      expect(await each.store.commit([release("a"), release("b")])).toEqual([
        { outcome: "released" },
        { outcome: "released" },
      ]);
      expect(await each.store.audit()).toMatchObject({ openHolds: 0, drifts: [] });
      await each.close();
    });
  });
});
