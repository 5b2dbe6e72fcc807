/** On SQLite the calls of an owner are indexed many at a time: reports in between miss none. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import {
  type GenerationStore,
  openGenerationStore,
  usageDetails,
  type UsageSums,
} from "../../src/generations/index.ts";
import { type LedgerOperation, type LedgerStore, openLedgerStore } from "../../src/ledger/index.ts";
import type { SqliteStorage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";

const owners = ["alice", "bob", "ß∂"];

let folder: string;
let storages: SqliteStorage[];
let stores: LedgerStore[];
let generations: GenerationStore;
let begun: number;

async function connect(path: string): Promise<SqliteStorage> {
  const storage = await openStorage(`sqlite:${path}`);
  if (storage.engine !== "sqlite") throw new Error("no SQLite file");
  return storage;
}

beforeEach(async () => {
  begun = 0;
  folder = mkdtempSync(join(tmpdir(), "tollgate-calls-"));
  storages = [await connect(join(folder, "t.db")), await connect(join(folder, "t.db"))];
  stores = storages.map(openLedgerStore);
  // Small pages, so that sums are read in several.
  generations = openGenerationStore(storages[0] as SqliteStorage, 7);
  for (const owner of owners) {
    const account = { kind: "token", name: owner, parentId: undefined, prepaid: false } as const;
    await stores[0]?.putAccount({ ...account, id: `token:${owner}`, maxBudget: undefined, period: undefined }, 0);
  }
});
afterEach(async () => {
  for (const storage of storages) await storage.close();
  rmSync(folder, { recursive: true });
});

interface Ended {
  id: string;
  owner: string;
  startedAt: number;
  credits: bigint;
}

const settle = ({ id, owner, startedAt, credits }: Ended, at = startedAt): LedgerOperation => {
  const call = { operation: "chat", dialect: undefined, provider: "p", model: "m", streamed: false } as const;
  const end = { status: 200, outcome: "complete", milliseconds: 1, millisecondsToFirstByte: 150 } as const;
  const record = {
    ...call,
    ...end,
    owner,
    usage: { input: 1, cacheRead: 1, output: 3, images: 2, pages: 0 },
    startedAt,
  };
  return { kind: "settle", id, amount: credits, at, record };
};

function hold({ id, owner, startedAt }: Ended, leaseUntil: number): LedgerOperation {
  return {
    kind: "hold",
    id,
    accountId: `token:${owner}`,
    amount: 9n,
    operation: "chat",
    provider: "p",
    model: "m",
    dialect: undefined,
    streamed: false,
    at: startedAt,
    leaseUntil,
  };
}

function someCalls(count: number): Ended[] {
  return Array.from({ length: count }, () => {
    begun += 1;
    // Neither ids nor moments come in order.
    const id = `req_${(begun * 7919) % 10_007}`;
    return { id, owner: owners[begun % 3] ?? "", startedAt: 1_000 + ((begun * 31) % 97), credits: BigInt(begun) };
  });
}

const indexed = (): number =>
  Number(storages[0]?.handle.query<{ n: bigint }, []>("SELECT count(*) AS n FROM calls_by_owner").get()?.n);

async function expectFound(calls: readonly Ended[]): Promise<void> {
  for (const owner of owners) {
    const own = calls.filter((call) => call.owner === owner);
    for (const [from, to] of [
      [0, 9_999],
      [1_020, 1_071],
    ] as const) {
      const inside = own.filter(({ startedAt }) => startedAt >= from && startedAt < to);
      const report = await generations.usage({ owner, from, to, groupBy: "day", groupsMax: 9 });
      expect(report).toMatchObject({
        total: { requests: BigInt(inside.length), credits: inside.reduce((sum, { credits }) => sum + credits, 0n) },
      });
    }
  }
  for (const to of [9_999, 86_400_000]) {
    const common = { groupsMax: 9, filter: {}, interval: "day", organisationOf: () => undefined } as const;
    const asked = { owners: undefined, from: 0, to, groupBy: ["user"], details: usageDetails } as const;
    const report = await generations.spending({ ...common, ...asked });
    const count = BigInt(calls.length);
    // 150 ms are within the second bound.
    expect(report).toMatchObject({ total: { requests: count, firstTokens: [count << 31n, 0n, 0n, 0n, 0n, 0n] } });
    expect(report).toHaveProperty("total.units", expect.any(Map));
    const { units } = (report as { total: UsageSums }).total;
    expect([units?.get("cacheRead"), units?.get("images")]).toEqual([count, 2n * count]);
  }
  for (const { id, owner, credits, startedAt } of calls.slice(-5)) {
    expect(await generations.find(id, owner)).toMatchObject({ id, credits, startedAt });
  }
}

test("commits of all sizes, of two processes in turn", async () => {
  const sizes = fc.array(fc.tuple(fc.nat(1), fc.integer({ min: 1, max: 90 })), { minLength: 6, maxLength: 12 });
  const all: Ended[] = [];
  for (const [process, size] of fc.sample(sizes, { numRuns: 3, seed: 5 }).flat()) {
    const calls = someCalls(size);
    await stores[process]?.commit([...calls.map((call) => hold(call, 9_999)), ...calls.map((call) => settle(call))]);
    all.push(...calls);
    await expectFound(all);
    expect(all.length - indexed()).toBeLessThan(128);
  }
  expect(all.length).toBeGreaterThan(500);
});

test("a late end in place of an expiry, in the index and behind its mark", async () => {
  const early = someCalls(300);
  const behind = someCalls(20);
  for (const calls of [early, behind]) {
    await stores[0]?.commit(calls.map((call) => hold(call, 1_000)));
    await stores[0]?.commit([{ kind: "sweep", at: 5_000 }]);
  }
  expect(indexed()).toBe(300);
  // The expiry's record has the time and the owner of the hold; the late end has its own.
  const late = [...early.slice(0, 40), ...behind].map((call) => ({ ...call, startedAt: call.startedAt + 500 }));
  await stores[1]?.commit(late.map((call) => settle(call)));
  const rest = early.slice(40);
  const count = async (owner: string, from: number, to: number) => {
    const report = await generations.usage({ owner, from, to, groupBy: "day", groupsMax: 9 });
    return typeof report === "object" && "total" in report ? report.total.requests : undefined;
  };
  for (const owner of owners) {
    const mine = (calls: readonly Ended[]) => BigInt(calls.filter((call) => call.owner === owner).length);
    expect(await count(owner, 0, 1_500)).toBe(mine(rest));
    expect(await count(owner, 1_500, 9_999)).toBe(mine(late));
  }
  expect(indexed()).toBe(300);
});

const outcomesOf = async (operations: readonly LedgerOperation[]): Promise<string[]> =>
  ((await stores[0]?.commit(operations)) ?? []).map(({ outcome }) => outcome);

test("a record that lacks something is refused at once, and not with the index of all", async () => {
  const [bad, ...good] = someCalls(200) as [Ended, ...Ended[]];
  await stores[0]?.commit([bad, ...good].map((call) => hold(call, 9_999)));
  // No number: SQLite takes it for null.
  const refused = async () => outcomesOf([settle({ ...bad, startedAt: Number.NaN }, 1)]);
  expect(await refused().catch(String)).toContain("constraint failed");
  expect(await outcomesOf(good.map((call) => settle(call)))).toEqual(good.map(() => "settled"));
  await expectFound(good);
  expect(indexed()).toBe(good.length);
});
