/** Several nodes on one Postgres: limits stay exact, and nothing deadlocks. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { addHolder, applyPeople } from "../../src/accounts/index.ts";
import { type Account, Ledger, type LedgerOutcome, type LedgerStore, openLedgerStore } from "../../src/ledger/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { createAccounts } from "../kit/accounts.ts";
import { openStorage } from "../kit/storage.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";
import { until } from "../kit/until.ts";

const NODES = 3;
const CALLS = 1_000;
const AFFORDED = 137;
const ROUNDS = 25;
const PRICE = 1_000n;

let server: PostgresServer;
let storages: Storage[];
let stores: LedgerStore[];
let ledgers: Ledger[];

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** Nodes of their own connections on a new database. */
async function openNodes(): Promise<void> {
  const url = await server.createDatabase();
  storages = await Promise.all(Array.from({ length: NODES }, () => openStorage(url)));
  stores = storages.map(openLedgerStore);
  ledgers = stores.map((store) => new Ledger({ store }));
}

async function closeNodes(): Promise<void> {
  for (const storage of storages) await storage.close();
}

function nodeOf<T>(nodes: readonly T[], index: number): T {
  const node = nodes[index % nodes.length];
  if (node === undefined) throw new Error("there is no node");
  return node;
}

const account = (kind: Account["kind"], name: string, rest: Partial<Account> = {}): Account => ({
  id: `${kind}:${name}`,
  kind,
  name,
  parentId: undefined,
  prepaid: false,
  maxBudget: undefined,
  period: undefined,
  ...rest,
});

const hold = (id: string, accountId: string, leaseUntil = 120_000) =>
  ({
    kind: "hold",
    id,
    accountId,
    amount: PRICE,
    operation: "chat",
    provider: "up",
    model: "m",
    dialect: undefined,
    streamed: false,
    at: 1_000,
    leaseUntil,
  }) as const;

test(`a balance for exactly ${AFFORDED} of ${CALLS} calls through ${NODES} nodes pays for exactly ${AFFORDED}`, async () => {
  await openNodes();
  const [first] = stores;
  if (first === undefined) throw new Error("there is no node");
  await first.putAccount(account("user", "u", { prepaid: true }), 1);
  for (let index = 0; index < 5; index += 1)
    await first.putAccount(account("token", `t${index}`, { parentId: "user:u" }), 1);
  const amount = PRICE * BigInt(AFFORDED);
  await nodeOf(ledgers, 0).submit({ kind: "grant", id: "g", accountId: "user:u", amount, at: 1 });

  const calls = Array.from({ length: CALLS }, async (_, index) => {
    const ledger = nodeOf(ledgers, index);
    const { outcome } = await ledger.submit(hold(`h${index}`, `token:t${index % 5}`));
    if (outcome !== "held") return outcome;
    // A hold of one node may be settled by another.
    return (await nodeOf(ledgers, index + 1).submit({ kind: "settle", id: `h${index}`, amount: PRICE, at: 2_000 }))
      .outcome;
  });
  const outcomes = await Promise.all(calls);
  expect(outcomes.filter((outcome) => outcome === "settled")).toHaveLength(AFFORDED);
  expect(outcomes.filter((outcome) => outcome === "insufficient")).toHaveLength(CALLS - AFFORDED);

  const [state] = await first.chain("user:u", 2_000);
  expect(state).toMatchObject({ creditsPosted: amount, debitsPosted: amount, debitsPending: 0n });
  expect(await first.audit()).toEqual({
    accounts: 6,
    entries: AFFORDED + 1,
    openHolds: 0,
    shortfall: 0n,
    drifts: [],
  });
  await closeNodes();
});

test("nodes that lock the same accounts in any order, and sweep beside it, never block each other", async () => {
  await openNodes();
  const [first] = stores;
  if (first === undefined) throw new Error("there is no node");
  await first.putAccount(account("organisation", "o", { maxBudget: 10n ** 12n, period: "daily" }), 1);
  const names = Array.from({ length: 12 }, (_, index) => `n${index}`);
  for (const name of names) {
    await first.putAccount(account("user", name, { parentId: "organisation:o" }), 1);
    await first.putAccount(account("token", name, { parentId: `user:${name}` }), 1);
  }

  // Of each twelve, eight are settled and four left to the sweepers of all nodes.
  const settledOf = 8;
  let swept = 0;
  const countSwept = (outcome: LedgerOutcome | undefined): void => {
    if (outcome?.outcome === "swept") swept += outcome.expired;
  };
  const rounds = stores.map(async (store, node) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const order = node % 2 === 0 ? names : names.toReversed();
      const ids = order.map((name) => [`${node}-${round}-${name}`, `token:${name}`] as const);
      const holds = ids.map(([id, token], index) => hold(id, token, index < settledOf ? undefined : 60_000));
      expect(new Set((await store.commit(holds)).map(({ outcome }) => outcome))).toEqual(new Set(["held"]));
      const settles = ids.slice(0, settledOf).map(([id]) => ({ kind: "settle", id, amount: 1n, at: 2_000 }) as const);
      const outcomes = await store.commit([...settles, { kind: "sweep", at: 60_001 }]);
      countSwept(outcomes.pop());
      expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(["settled"]));
    }
  });
  await Promise.all(rounds);
  countSwept((await first.commit([{ kind: "sweep", at: 60_001 }]))[0]);

  expect(swept).toBe(NODES * ROUNDS * (names.length - settledOf));
  expect(await first.audit()).toMatchObject({ entries: NODES * ROUNDS * names.length, openHolds: 0, drifts: [] });
  await closeNodes();
});

test("a file of people and a commit, which lock the same accounts, do not wait for each other", async () => {
  await openNodes();
  const [storage, , third] = storages;
  if (storage?.engine !== "postgres" || third?.engine !== "postgres") throw new Error("there is no node");
  const deps = createAccounts(storage, { clock: () => 1_000, randomBytes }, "cli:test");
  for (const name of ["ann", "zoe"]) await addHolder(deps, { kind: "user", name });
  const waiting = (count: number): Promise<unknown> =>
    until(`${count} wait for a lock`, async () => {
      const [row] = await third.statements.run<{ count: bigint }>(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
      );
      return row?.count === BigInt(count);
    });
  const [isLocked, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const locking = third.statements.transaction(async (run) => {
    await run("SELECT id FROM accounts WHERE id = 'user:ann' FOR UPDATE");
    isLocked.resolve();
    await end.promise;
  });
  await isLocked.promise;
  const committed = nodeOf(stores, 1).commit([hold("a", "user:ann"), hold("z", "user:zoe")]);
  await waiting(1);
  const people = ["zoe", "ann"].map((name) => ({ name, changes: { maxBudget: PRICE } }));
  const applied = applyPeople(deps, people);
  await waiting(2);
  end.resolve();
  expect((await committed).map(({ outcome }) => outcome)).toEqual(["insufficient", "insufficient"]);
  expect((await applied).changed.map(({ name }) => name)).toEqual(["zoe", "ann"]);
  await locking;
  await closeNodes();
});

test("nodes that renew, raise and end holds in any order while others sweep them never block each other", async () => {
  await openNodes();
  const [first] = stores;
  if (first === undefined) throw new Error("there is no node");
  const names = Array.from({ length: 40 }, (_, index) => `n${index}`);
  for (const name of names) await first.putAccount(account("token", name), 1);

  // Each node has holds in every account and renews those of all nodes, its own one way round and the others' the other.
  const idOf = (node: number, round: number, name: string): string => `${node}-${round}-${name}`;
  const renew = (id: string) => ({ kind: "renew", id, leaseUntil: 60_001, observed: 1n }) as const;
  const rounds = stores.map(async (store, node) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await store.commit(
        names.map((name, index) => hold(idOf(node, round, name), `token:${name}`, 60_000 + (index % 2))),
      );
      const ids = stores.map((_, other) => names.map((name) => idOf(other, round, name)));
      const own = nodeOf(ids, node);
      await store.commit(own.map(renew));
      await store.commit(ids.flat().toReversed().map(renew));
      await store.commit(own.map((id) => ({ kind: "top-up", id, amount: 2n * PRICE, at: 2_000 })));
      await store.commit([...own.map(renew), { kind: "sweep", at: 60_001 }]);
      const outcomes = await store.commit(own.map((id) => ({ kind: "settle", id, amount: 1n, at: 2_000 })));
      for (const { outcome } of outcomes) expect(outcome).toBe("settled");
    }
  });
  await Promise.all(rounds);
  expect(await first.audit()).toMatchObject({ openHolds: 0, drifts: [] });
  for (const name of names) {
    expect(await first.chain(`token:${name}`, 2_000)).toMatchObject([{ debitsPosted: BigInt(NODES * ROUNDS) }]);
  }
  await closeNodes();
});

test("holds of nodes of the previous version count in their own account alone, whichever node ends them", async () => {
  await openNodes();
  const [first, second] = stores;
  const [storage] = storages;
  if (first === undefined || second === undefined || storage?.engine !== "postgres")
    throw new Error("there is no node");
  await first.putAccount(account("user", "u"), 1);
  await first.putAccount(account("token", "t", { parentId: "user:u" }), 1);
  // As such a node sends them: without the levels, and with the limits of the first one.
  const older = { kind: "hold", account: "token:t", amount: "1", operation: "chat", at: 1_000, lease_until: 60_000 };
  const limits = { is_rated: true, requests_max: 2, tokens: 0 };
  const commit = (operation: object) =>
    storage.statements.run<{ outcomes: string[]; details: (string | null)[] }>(
      "SELECT outcomes, details FROM ledger_commit($1, '{1}', NULL)",
      [JSON.stringify([operation])],
    );
  const rates = { requests: 1, tokens: 0, calls: 1, minuteEndsAt: 60_000 };
  const [taken] = await commit({ ...older, ...limits, id: "a" });
  expect([taken?.outcomes, JSON.parse(taken?.details[0] ?? "")]).toEqual([["held"], rates]);
  await commit({ ...older, ...limits, id: "b" });
  const [refused] = await commit({ ...older, ...limits, id: "c" });
  expect([refused?.outcomes, JSON.parse(refused?.details[0] ?? "")]).toMatchObject([["limited"], { requests: 2 }]);
  const openCalls = async (): Promise<bigint[]> =>
    (await storage.statements.run<{ open_calls: bigint }>("SELECT open_calls FROM accounts ORDER BY id")).map(
      (row) => row.open_calls,
    );
  const above = { ...hold("d", "token:t"), ratesAbove: [{ concurrentCalls: 1 }] };
  expect(await second.commit([above])).toMatchObject([{ outcome: "held", ratesAbove: [{ calls: 1 }] }]);
  expect(await openCalls()).toEqual([3n, 1n]);
  await first.commit([{ kind: "settle", id: "a", amount: 1n, at: 2_000 }]);
  // That node ends its own, and may end those of others.
  await commit({ kind: "release", id: "b", at: 2_000 });
  await commit({ kind: "release", id: "d", at: 2_000 });
  expect(await openCalls()).toEqual([0n, 0n]);
  expect((await first.audit()).drifts).toEqual([]);
  await closeNodes();
});
