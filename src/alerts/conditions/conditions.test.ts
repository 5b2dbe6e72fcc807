/** Each rule on a storage in memory, and the conditions that it leaves alone. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openJobStore } from "../../jobs/index.ts";
import { type Account, Ledger, openLedgerStore, openSpendingReader } from "../../ledger/index.ts";
import { record } from "../../charges/__fixtures__/work-scene.ts";
import { openNodeStore } from "../../nodes/index.ts";
import { openTargetStore } from "../../routing/index.ts";
import type { Storage } from "../../storage/index.ts";
import { query } from "../../../test/kit/engines.ts";
import { openStorage } from "../../../test/kit/storage.ts";
import type { ProcessReport } from "../store.ts";
import { Conditions } from "./conditions.ts";
import { reportConditions } from "./from-reports.ts";
import { storageConditions } from "./from-storage.ts";

const DAY = 86_400_000;
const HOUR = 3_600_000;
/** Noon. */
const NOW = Date.UTC(2026, 10, 20, 12);

let storage: Storage;
let now: number;
beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
  now = NOW;
});
afterEach(() => storage.close());

const conditions = () =>
  storageConditions({
    spending: openSpendingReader(storage),
    targets: openTargetStore(storage),
    hasKey: (prefix, keyId) => prefix === "a" && keyId === "k1",
    jobs: openJobStore(storage),
    nodes: openNodeStore(storage),
    catalogs: () => ({
      age: () => ({ layer: "built-in", made: "2026-11-01", days: 19, isOld: true }),
      find: () => undefined,
      names: () => [],
    }),
    clock: () => now,
  });

const account = (id: string, rest: Partial<Account> = {}): Account => ({
  id,
  kind: id.split(":")[0] as Account["kind"],
  name: id.split(":")[1] ?? "",
  parentId: undefined,
  prepaid: false,
  maxBudget: undefined,
  period: undefined,
  ...rest,
});

/** Accounts with grants, and calls that they have paid for. */
async function books(accounts: readonly Account[]) {
  const store = openLedgerStore(storage);
  const ledger = new Ledger({ store });
  for (const each of accounts) await store.createAccount(each, 0);
  let calls = 0;
  return {
    grant: (accountId: string, amount: bigint) =>
      ledger.submit({ kind: "grant", id: `grant ${accountId}`, accountId, amount, at: 0 }),
    spend: async (accountId: string, owner: string, amount: bigint, at: number): Promise<void> => {
      const id = `call ${(calls += 1)}`;
      const call = { provider: "up", model: "m", dialect: "chat", streamed: false, operation: "chat" } as const;
      await ledger.submit({ kind: "hold", id, accountId, amount, at, leaseUntil: at + HOUR, ...call });
      await ledger.submit({ kind: "settle", id, amount, at, record: record({ owner, startedAt: at }) });
    },
    hold: (accountId: string, leaseUntil: number) =>
      ledger.submit({
        kind: "hold",
        id: "left",
        accountId,
        amount: 1n,
        at: 0,
        leaseUntil,
        provider: "up",
        model: "m",
        dialect: "chat",
        streamed: false,
        operation: "chat",
      }),
  };
}

describe("a budget", () => {
  test("has a crossing for each threshold that it has reached, in its period", async () => {
    const monthly = { maxBudget: 1_000n, period: "monthly" } as const;
    const { spend } = await books([
      account("user:half", monthly),
      account("user:over", { ...monthly, period: undefined }),
      account("user:less", monthly),
      account("user:none"),
    ]);
    await spend("user:half", "half", 799n, NOW);
    await spend("user:over", "over", 1_000n, NOW);
    await spend("user:less", "less", 499n, NOW);
    await spend("user:none", "none", 499n, NOW);
    const found = await conditions().budget();
    expect(found).toEqual([
      { rule: "budget", account: "user:half", period: "2026-11-01", threshold: 50, value: 79 },
      { rule: "budget", account: "user:over", period: undefined, threshold: 50, value: 100 },
      { rule: "budget", account: "user:over", period: undefined, threshold: 80, value: 100 },
      { rule: "budget", account: "user:over", period: undefined, threshold: 100, value: 100 },
    ]);
    // The next month has begun, and nobody has called in it.
    now = Date.UTC(2026, 11, 1);
    expect((await conditions().budget())?.map(({ account: of }) => of)).toEqual([
      "user:over",
      "user:over",
      "user:over",
    ]);
  });
});

describe("a balance", () => {
  test("that lasts less than three days at the last day's pace is found, of users and of their organisation", async () => {
    const { grant, spend } = await books([
      account("organisation:acme", { prepaid: true }),
      account("user:ann", { parentId: "organisation:acme" }),
      account("user:bob", { parentId: "organisation:acme" }),
      account("user:solo", { prepaid: true }),
      account("user:rich", { prepaid: true }),
      account("user:idle", { prepaid: true }),
    ]);
    await grant("organisation:acme", 1_000n);
    await grant("user:solo", 1_000n);
    await grant("user:rich", 100_000n);
    // At noon half of yesterday counts: 100 of 200, and today's.
    await spend("user:ann", "ann", 200n, NOW - DAY);
    await spend("user:bob", "bob", 150n, NOW);
    await spend("user:solo", "solo", 200n, NOW);
    await spend("user:rich", "rich", 100n, NOW);
    expect(await conditions().balance()).toEqual([
      { rule: "balance", account: "organisation:acme", threshold: 3, value: 2.6 },
    ]);
    await spend("user:solo", "solo", 100n, NOW);
    const again = conditions();
    expect((await again.balance())?.map(({ account: of, value }) => [of, value])).toEqual([
      ["organisation:acme", 2.6],
      ["user:solo", 2.3],
    ]);
    expect(await again.balance()).toBeUndefined();
    now += 5 * 60_000;
    expect(await again.balance()).toHaveLength(2);
  });
});

test("a balance that is used up is low however long nobody can spend of it, until it gets credits; one that is idle is not", async () => {
  const { grant, spend } = await books([
    account("user:empty", { prepaid: true }),
    account("user:nearly", { prepaid: true }),
    account("user:idle", { prepaid: true }),
    account("user:new", { prepaid: true }),
  ]);
  for (const user of ["empty", "nearly", "idle"]) await grant(`user:${user}`, 1_000n);
  await spend("user:empty", "empty", 1_000n, NOW);
  await spend("user:nearly", "nearly", 995n, NOW);
  await spend("user:idle", "idle", 500n, NOW);
  const found = async () =>
    (await conditions().balance())?.map(({ account: of, value, keepsOpen }) => [of, value, keepsOpen]);
  expect(await found()).toEqual([
    ["user:empty", 0, undefined],
    ["user:idle", 1, undefined],
    ["user:nearly", 0, undefined],
  ]);
  now += 30 * DAY;
  expect(await found()).toEqual([
    ["user:empty", 0, true],
    ["user:nearly", 0, true],
  ]);
  const ledger = new Ledger({ store: openLedgerStore(storage) });
  await ledger.submit({ kind: "grant", id: "more", accountId: "user:empty", amount: 1_000n, at: now });
  expect(await found()).toEqual([["user:nearly", 0, true]]);
});

test("circuits that are open and keys that are refused are found until they work", async () => {
  const store = openTargetStore(storage);
  const state = { pauseMs: 5_000, process: "p", changedAt: NOW };
  await store.putState({ ...state, id: "a/m one.test", kind: "open", openUntil: NOW + 5_000 });
  await store.putState({ ...state, id: "a/m two.test", kind: "open", openUntil: NOW + 5_000 });
  await store.putState({ ...state, id: "b/m one.test", kind: "works", openUntil: 0 });
  await store.putState({ ...state, id: "a k1 /chat", kind: "refused", openUntil: 0, changedAt: NOW - 30 * DAY });
  await store.putState({ ...state, id: "a k1 /embeddings", kind: "refused", openUntil: 0 });
  // Replaced meanwhile: nobody will find that it works.
  await store.putState({ ...state, id: "a k0 /chat", kind: "refused", openUntil: 0 });
  await store.putState({ ...state, id: "gone k1 /chat", kind: "refused", openUntil: 0 });
  await store.putState({ ...state, id: "b k2", kind: "repaired", openUntil: 0 });
  const { circuit, key_refused: keys } = conditions();
  expect(await circuit()).toEqual([{ rule: "circuit", account: "a/m", value: "open" }]);
  expect(await keys()).toEqual([{ rule: "key_refused", account: "a/k1", value: "refused" }]);
  now += 70_000;
  expect(await circuit()).toEqual([]);
});

test("a hold that nobody ended and a job that nobody began are overdue", async () => {
  const { hold } = await books([account("user:u")]);
  await hold("user:u", NOW - 60_000);
  const job = { id: "j", kind: "video", owner: "u", payload: {}, createdAt: 0 };
  await openJobStore(storage).put({ ...job, runAt: NOW - 600_000 });
  const { overdue } = conditions();
  expect(await overdue()).toEqual([]);
  now += 1;
  expect(await overdue()).toEqual([
    { rule: "overdue", account: "holds", value: 1 },
    { rule: "overdue", account: "jobs", value: 1 },
  ]);
  await query(storage, `UPDATE jobs SET lease_until = ${NOW + 1_000}, lease_token = 't', lease_node = 'n'`);
  expect(await overdue()).toHaveLength(1);
});

test("old prices have the name of their catalog", async () => {
  const found = await conditions().stale_prices();
  expect(found).toEqual([{ rule: "stale_prices", account: "built-in", value: 19 }]);
});

describe("nodes", () => {
  const node = {
    host: "h",
    version: "1",
    port: undefined,
    startedAt: 0,
    seenAt: NOW,
    fingerprintAt: 0,
    asked: undefined,
    outcome: undefined,
  };
  test("that differ are one crossing, whatever differs; one that is gone does not count", async () => {
    const store = openNodeStore(storage);
    await store.announce({ ...node, name: "h:1", pid: 1, fingerprint: { prices: "a", routes: "b" } });
    await store.announce({ ...node, name: "h:2", pid: 2, fingerprint: { prices: "c", routes: "d" } });
    await store.announce({ ...node, name: "h:3", pid: 3, fingerprint: { prices: "a" }, seenAt: NOW - 31_000 });
    expect(await conditions().nodes_differ()).toEqual([{ rule: "nodes_differ", value: "prices, routes" }]);
    await store.beat("h:2", NOW, { prices: "a", routes: "b" });
    expect(await conditions().nodes_differ()).toEqual([]);
  });
});

describe("reports of processes", () => {
  const empty: ProcessReport = { calls: {}, unpriced: {}, shortfall: 0, journal: 0 };
  const of = (...reports: Partial<ProcessReport>[]) =>
    reportConditions(() =>
      Promise.resolve(new Map(reports.map((report, number) => [`n${number}`, { ...empty, ...report }]))),
    );

  test("are summed: a share of failures counts over all of them, and takes twenty calls", async () => {
    const few = of({ calls: { a: [10, 9], b: [9, 9] } }, { calls: { a: [10, 0], b: [10, 10] } });
    expect(await few.error_rate()).toEqual([{ rule: "error_rate", account: "a", threshold: 20, value: 45 }]);
    expect(await of({ calls: { a: [100, 19] } }).error_rate()).toEqual([]);
    const rules = of({ unpriced: { "a/m": 1 }, shortfall: 0.5, journal: 2 }, { unpriced: { "a/m": 2 }, shortfall: 1 });
    expect(await rules.unpriced()).toEqual([{ rule: "unpriced", account: "a/m", value: 3 }]);
    expect(await rules.shortfall()).toEqual([{ rule: "shortfall", value: 1.5 }]);
    expect(await rules.journal()).toEqual([{ rule: "journal", account: "n0", value: 2 }]);
    expect(await of({}).shortfall()).toEqual([]);
  });
});

test("a rule that fails is reported and left out; one that is not wanted is not asked", async () => {
  const failures: unknown[] = [];
  const fails = () => Promise.reject(new Error("the storage is gone"));
  const found = { rule: "journal", account: "n", value: 1 } as const;
  const all = new Conditions(
    {
      budget: fails,
      balance: fails,
      circuit: () => Promise.resolve(undefined),
      journal: () => Promise.resolve([found]),
    },
    (rule) => failures.push(rule),
  );
  const look = await all.look((rule) => rule !== "balance");
  expect([look, failures]).toEqual([{ rules: new Set(["journal"]), found: [found] }, ["budget"]] as never);
});
