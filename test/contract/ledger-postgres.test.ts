import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openTokenStore } from "../../src/auth/index.ts";
import { openLedgerStore } from "../../src/ledger/index.ts";
import type { PostgresStorage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";
import { describeLedgerStore, type OpenedLedgerStore } from "./ledger-store.ts";
import {
  budgetRows,
  grant,
  granted,
  held,
  hold,
  insufficient,
  noon,
  settle,
  settled,
  sweep,
  swept,
  token,
  user,
} from "./ledger-store/world.ts";

let server: PostgresServer;
let url: string;
/** Connections that the tests of this file share; each store finds the tables empty. */
let storages: PostgresStorage[];

async function connect(): Promise<PostgresStorage> {
  const storage = await openStorage(url);
  if (storage.engine !== "postgres") throw new Error(`${url} is no Postgres`);
  return storage;
}

beforeAll(async () => {
  server = await startPostgres();
  url = await server.createDatabase();
  storages = await Promise.all([connect(), connect(), connect()]);
});

afterAll(async () => {
  for (const storage of storages) await storage.close();
  await server.stop();
});

const tables = [
  "accounts",
  "holds",
  "entries",
  "tokens",
  "generations",
  "retry_keys",
  "jobs",
  "daily_sums",
  "monthly_sums",
  "daily_units",
  "monthly_units",
  "opening_balances",
  "budgets",
  "model_groups",
];

/**
 * A tenth of the work of a new database each. In this role the trigger that keeps the entries does not fire; to switch it off
 * would change the table, and every plan of the ledger's functions would have to be made again.
 */
const EMPTY = `DO $$ BEGIN
  SET LOCAL session_replication_role = replica;
  ${tables.map((table) => `DELETE FROM ${table};`).join("\n  ")}
  UPDATE ledger_state SET closed_before = 0, sealed_before = 0, sealed_entries = 0, sealed_shortfall = 0, removed_before = 0;
END $$`;

async function openPostgresLedger(): Promise<OpenedLedgerStore> {
  const [first, ...others] = storages;
  if (first === undefined) throw new Error("there is no connection");
  await first.statements.run(EMPTY);
  return {
    // A copy: a store caches chains, and the accounts of the previous test no longer exist.
    store: openLedgerStore({ ...first }),
    tokens: openTokenStore(first),
    connectAgain: async () => {
      const storage = others.shift();
      if (storage === undefined) throw new Error("too few connections are open");
      return openLedgerStore({ ...storage });
    },
    query: (sql) => first.statements.run<Record<string, unknown>>(sql),
    close: async () => {},
  };
}

describeLedgerStore("postgres", openPostgresLedger);

describe("a ledger in Postgres", () => {
  const alice = user("alice", { prepaid: true });
  const key = token("key", { parentId: alice.id });

  test("keeps amounts beyond 53 bits exact", async () => {
    const { store } = await openPostgresLedger();
    const amount = 2n ** 60n + 1n;
    await store.putAccount(alice, noon);
    expect(await store.commit([grant("g", alice.id, amount)])).toEqual([granted]);
    expect(await store.commit([hold("h", alice.id, amount - 1n)])).toEqual([held]);
    expect(await store.chain(alice.id, noon)).toMatchObject([{ creditsPosted: amount, debitsPending: amount - 1n }]);
  });

  test("fails a commit whose counters would exceed 64 bits, and applies nothing of it", async () => {
    const { store } = await openPostgresLedger();
    await store.putAccount(alice, noon);
    await store.commit([grant("g", alice.id, 2n ** 62n)]);
    const failing = async (): Promise<unknown> =>
      store.commit([grant("h", alice.id, 5n), grant("i", alice.id, 2n ** 62n)]);
    expect(failing).toThrow("bigint out of range");
    expect(await store.chain(alice.id, noon)).toMatchObject([{ creditsPosted: 2n ** 62n }]);
  });

  test("detects that its cached chain is outdated", async () => {
    const { store, query } = await openPostgresLedger();
    await store.putAccount(alice, noon);
    await store.putAccount(token("key"), noon);
    expect(await store.commit([hold("a", key.id, 10n)])).toEqual([held]);
    await query(
      `UPDATE accounts SET parent_id = '${alice.id}', chain = ARRAY['${key.id}', '${alice.id}'] WHERE id = '${key.id}'`,
    );
    expect(await store.commit([hold("b", key.id, 10n)])).toEqual([insufficient(alice.id, 0n)]);
    expect(await store.commit([hold("b", key.id, 10n), settle("b", 1n)])).toEqual([
      insufficient(alice.id, 0n),
      { outcome: "no-hold" },
    ]);
  });

  test("leaves a hold whose budget has moved away to the node that sweeps", async () => {
    const { store, query } = await openPostgresLedger();
    const free = token("free");
    await store.putAccount(free, noon);
    await store.putAccount({ ...token("b"), id: "budget:b", kind: "budget" }, noon);
    for (const statement of budgetRows({ id: "b", accountId: free.id }, undefined)) await query(statement);
    expect(await store.commit([hold("left", free.id, 5n, { leaseUntil: noon })])).toEqual([held]);
    await query("UPDATE budgets SET account_id = 'token:free:2'");
    const [isSweeping, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const sweeping = storages[1]?.statements.transaction(async (run) => {
      await run("SELECT pg_advisory_xact_lock(hashtext('tollgate ledger sweep'))");
      isSweeping.resolve();
      await end.promise;
    });
    await isSweeping.promise;
    expect(await store.commit([hold("next", free.id, 1n), sweep(noon + 1)])).toEqual([held, swept(0)]);
    end.resolve();
    await sweeping;
    expect(await store.commit([sweep(noon + 1)])).toEqual([swept(1)]);
    expect(await store.chain("budget:b", noon)).toMatchObject([{ debitsPending: 0n }]);
  });

  test("takes texts that Postgres doesn't, and their neighbours", async () => {
    const { store, query } = await openPostgresLedger();
    const lone = token("lone");
    await store.putAccount(lone, noon);
    const odd = (id: string) => ({ ...hold(id, lone.id, 10n, { leaseUntil: noon }), model: "\0\ud800" });
    const retry = { retry: { key: "\0", fingerprint: "\udfff" } };
    // Through the general function, whose chains are then known, and through the plain one.
    expect(await store.commit([hold("a", lone.id, 10n, retry), odd("b"), hold("c", lone.id, 10n)])).toEqual([
      held,
      held,
      held,
    ]);
    expect(await store.commit([odd("d"), hold("e", lone.id, 10n)])).toEqual([held, held]);
    await store.commit([sweep(noon + 1)]);
    expect([...(await query("SELECT id, model FROM generations ORDER BY id"))]).toEqual([
      { id: "b", model: "\ufffd\ufffd" },
      { id: "d", model: "\ufffd\ufffd" },
    ]);
  });

  test("commits a plain batch and a general one to the same result", async () => {
    const { store } = await openPostgresLedger();
    await store.putAccount(alice, noon);
    await store.putAccount(key, noon);
    await store.commit([grant("g", alice.id, 100n), hold("first", key.id, 10n), settle("first", 10n)]);
    // 90 are left: plain, then too much in one batch although each alone has room, then plain ends.
    expect(await store.commit([hold("a", key.id, 40n), hold("b", key.id, 40n)])).toEqual([held, held]);
    expect(await store.commit([settle("a", 15n), hold("c", key.id, 30n), hold("d", key.id, 10n)])).toEqual([
      settled(),
      held,
      insufficient(alice.id, 5n),
    ]);
    expect(await store.commit([settle("b", 40n), settle("c", 0n)])).toEqual([settled(), settled()]);
    expect(await store.chain(key.id, noon)).toMatchObject([
      { debitsPosted: 65n, debitsPending: 0n },
      { creditsPosted: 100n, debitsPosted: 65n, debitsPending: 0n },
    ]);
    expect((await store.audit()).drifts).toEqual([]);
  });
});
