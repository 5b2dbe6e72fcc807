import { beforeEach, expect, test } from "bun:test";
import { openStorage } from "../../../../test/kit/storage.ts";
import type { Usage } from "../../../core/index.ts";
import type { SqliteStorage } from "../../../storage/index.ts";
import type { CallRecord, Hold, LedgerOperation, Settle } from "../../operations.ts";
import { countingCalls, UTC_DAY } from "../sums/sqlite-sums.ts";
import { SqliteLedgerStore } from "./store.ts";

const DAY_MS = 86_400_000;

/** More than wait to be counted. */
const CALLS = 600;

let storage: SqliteStorage;
let store: SqliteLedgerStore;
let now: number;
beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
  store = new SqliteLedgerStore(storage);
  now = 20_000 * DAY_MS;
  for (const id of ["token:a", "token:b"]) {
    const account = { kind: "token", name: id, parentId: undefined, prepaid: false, maxBudget: undefined } as const;
    await store.createAccount({ id, ...account, period: undefined, periodFrom: undefined }, now);
  }
});

const idOf = (index: number): string => `req_${String(index).padStart(16, "0")}`;

function holdOf(index: number): Hold {
  const accountId = index % 3 === 0 ? "token:a" : "token:b";
  const call = { operation: "chat", provider: "p", model: "m", dialect: "chat", streamed: true } as const;
  return { kind: "hold", id: idOf(index), accountId, amount: 10n, at: now, leaseUntil: now + DAY_MS, ...call };
}

const usages: readonly Usage[] = [
  { input: 3, output: 5, requests: 1 },
  { input: 0, cacheRead: 7, cacheWrite5m: 2, cacheWrite1h: 1, output: 0, reasoning: 11, requests: 1 },
  { input: 1, output: 1, webSearches: 2, requests: 1 },
  {},
];

function recordOf(index: number, more: Partial<CallRecord>): CallRecord {
  return {
    owner: index % 5 === 0 ? "ann" : "bob",
    operation: index % 7 === 0 ? "embeddings" : "chat",
    dialect: "chat",
    provider: "p",
    model: `m${index % 4}`,
    streamed: true,
    status: 200,
    outcome: (["complete", "failed", "interrupted", "abandoned"] as const)[index % 4] ?? "complete",
    usage: usages[index % usages.length] ?? {},
    listCredits: index % 6 === 0 ? undefined : index,
    milliseconds: 5,
    millisecondsToFirstByte: index % 2 === 0 ? undefined : index * 61.5,
    startedAt: now + (index % 3) * DAY_MS + index,
    tags: index % 8 === 0 ? { team: "search" } : undefined,
    ...more,
  };
}

const settleOf = (index: number, more: Partial<CallRecord> = {}): Settle => ({
  kind: "settle",
  id: idOf(index),
  amount: BigInt(index),
  at: now,
  record: recordOf(index, more),
});

/** Commits some calls at once, each with its hold before. */
async function commit(from: number, to: number, more: Partial<CallRecord> = {}): Promise<void> {
  const indexes = Array.from({ length: to - from }, (_, index) => from + index);
  const operations: LedgerOperation[] = indexes.map(holdOf);
  await store.commit(operations);
  await store.commit(indexes.map((index) => (index % 11 === 0 ? releaseOf(index) : settleOf(index, more))));
}

const releaseOf = (index: number): LedgerOperation => ({
  kind: "release",
  id: idOf(index),
  at: now,
  record: recordOf(index, { outcome: "failed", usage: {} }),
});

const all = (table: string): unknown[] =>
  storage.handle.query(`SELECT * FROM ${table} ORDER BY 1, 2, 3, 4, 5, 6, 7, 8`).all();

const sums = (): unknown[] => [all("daily_sums"), all("daily_units"), all("monthly_sums"), all("monthly_units")];

/** All sums as they are, and as the rows of all counted calls give them. */
function bothSums(): { kept: unknown[]; counted: unknown[] } {
  const kept = sums();
  for (const table of ["daily_sums", "daily_units", "monthly_sums", "monthly_units"])
    storage.handle.run(`DELETE FROM ${table}`);
  const [mark] = storage.handle.query<{ number: bigint }, []>("SELECT number FROM calls_by_owner_mark").all();
  for (const statement of countingCalls(UTC_DAY, `number <= ${mark?.number ?? 0n}`)) storage.handle.run(statement);
  return { kept, counted: sums() };
}

test("sums that are kept while calls are appended are those of their rows", async () => {
  for (let from = 0; from < CALLS; from += 50) await commit(from, from + 50);
  const { kept, counted } = bothSums();
  expect(kept[0]).not.toEqual([]);
  expect(kept[1]).not.toEqual([]);
  expect(kept).toEqual(counted);
});

test.each<[what: string, more: Partial<CallRecord>]>([
  ["units that are no whole number", { usage: { input: 1, containerGb: 1.5, requests: 1 } }],
  ["more credits than a number holds", { listCredits: Number.MAX_SAFE_INTEGER }],
])("%s are counted from the rows", async (_what, more) => {
  for (let from = 0; from < CALLS / 2; from += 50) await commit(from, from + 50, more);
  const { kept, counted } = bothSums();
  expect(kept).toEqual(counted);
});

test("so are calls after a commit that failed, and after rows of another origin", async () => {
  await commit(0, 200);
  await commit(200, 210);
  const broken: LedgerOperation = { ...settleOf(300), record: { ...recordOf(300, {}), owner: {} as string } };
  await store.commit([holdOf(300)]);
  expect(() => store.commit([settleOf(301), broken])).toThrow();
  await commit(310, 420);
  storage.handle.run(
    `INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
     VALUES ('other', 'grant', 'bank', 'token:a', 1, 0, 0, ${now})`,
  );
  await commit(420, 700);
  const { kept, counted } = bothSums();
  expect(kept).toEqual(counted);
});

test("a call that is corrected before it is counted is counted as it is then", async () => {
  await commit(0, 200);
  await store.commit([holdOf(500)]);
  now += 2 * DAY_MS;
  await store.commit([{ kind: "sweep", at: now }]);
  await store.commit([settleOf(500)]);
  await commit(501, 700);
  await store.commit([{ kind: "refund", id: idOf(640), at: now, actor: "op", reason: "r" }]);
  await commit(701, 900);
  const { kept, counted } = bothSums();
  expect(kept).toEqual(counted);
});
