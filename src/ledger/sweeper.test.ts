import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import type { Storage } from "../storage/index.ts";
import { openStorage } from "../../test/kit/storage.ts";
import { Ledger } from "./ledger.ts";
import { openLedgerStore } from "./sql/open.ts";
import type { LedgerStore } from "./store.ts";
import { startSweeper } from "./sweeper.ts";

const account = {
  id: "user:u",
  kind: "user",
  name: "u",
  parentId: undefined,
  prepaid: false,
  maxBudget: undefined,
  period: undefined,
} as const;
const every = 15_000;

let storage: Storage;
let store: LedgerStore;
let ledger: Ledger;
let now: number;
let expired: number[];
let errors: unknown[];
let stop: () => void;

beforeEach(async () => {
  jest.useFakeTimers();
  storage = await openStorage("sqlite::memory:");
  store = openLedgerStore(storage);
  ledger = new Ledger({ store });
  await store.putAccount(account, 1);
  now = 1_000_000;
  expired = [];
  errors = [];
});
afterEach(async () => {
  stop();
  jest.useRealTimers();
  await storage.close();
});

function start(): void {
  stop = startSweeper({
    ledger,
    clock: () => now,
    onExpired: (count) => expired.push(count),
    onError: (reason) => errors.push(reason),
  });
}

async function hold(id: string, leaseUntil: number): Promise<void> {
  await ledger.submit({
    kind: "hold",
    id,
    accountId: account.id,
    amount: 1n,
    operation: "chat",
    provider: "up",
    model: "m",
    dialect: undefined,
    streamed: false,
    at: now,
    leaseUntil,
  });
}

test("holds left by an earlier process are ended at the start", async () => {
  await hold("left", now - 1);
  await hold("alive", now + 1_000_000);
  start();
  await ledger.flush();
  expect(expired).toEqual([1]);
  expect((await store.openHolds()).map(({ id }) => id)).toEqual(["alive"]);
});

test("later ones are ended by the next round, and a round without any is not reported", async () => {
  start();
  await ledger.flush();
  await hold("left", now + 1_000);
  now += every;
  jest.advanceTimersByTime(every);
  await ledger.flush();
  expect(expired).toEqual([1]);
  jest.advanceTimersByTime(every);
  await ledger.flush();
  expect(expired).toEqual([1]);
});

test("a failed round is reported, and the next one follows", async () => {
  await hold("left", now - 1);
  const commit = store.commit.bind(store);
  store.commit = () => {
    throw new Error("disk full");
  };
  start();
  await ledger.flush();
  expect(errors).toMatchObject([{ code: "storage_unavailable" }]);
  store.commit = commit;
  jest.advanceTimersByTime(every);
  await ledger.flush();
  expect(expired).toEqual([1]);
});

test("a stopped sweeper sweeps no more", async () => {
  start();
  await ledger.flush();
  stop();
  await hold("left", now - 1);
  jest.advanceTimersByTime(10 * every);
  await ledger.flush();
  expect(expired).toEqual([]);
  expect(await store.openHolds()).toHaveLength(1);
});
