import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTokenStore } from "../../src/auth/index.ts";
import { openLedgerStore } from "../../src/ledger/index.ts";
import { openStorage, type SqliteStorage } from "../../src/storage/index.ts";
import { describeLedgerStore, type OpenedLedgerStore } from "./ledger-store.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-ledger-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;

async function connect(url: string): Promise<SqliteStorage> {
  const storage = await openStorage(url);
  if (storage.engine !== "sqlite") throw new Error(`${url} is no SQLite file`);
  return storage;
}

async function openSqliteLedger(): Promise<OpenedLedgerStore> {
  files += 1;
  const url = `sqlite:${join(folder, `${files}.db`)}`;
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

  test("is there again when the file is opened anew", async () => {
    const url = `sqlite:${join(folder, "kept.db")}`;
    const first = await openStorage(url);
    const before = openLedgerStore(first);
    await before.putAccount(account, 1);
    await before.commit([
      { kind: "grant", id: "g", accountId: account.id, amount: 100n, at: 1 },
      { kind: "hold", id: "h", accountId: account.id, amount: 60n, purpose: "chat", at: 1, leaseUntil: 2 },
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
      { kind: "hold", id: "h", accountId: account.id, amount: amount - 1n, purpose: "chat", at: 1, leaseUntil: 2 },
    ]);
    expect(await store.chain(account.id, 1)).toMatchObject([{ creditsPosted: amount, debitsPending: amount - 1n }]);
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
});
