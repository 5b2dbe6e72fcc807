import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import fc from "fast-check";
import { GatewayError, limits, type ObservedUsage, type Usage } from "../core/index.ts";
import {
  Ledger,
  type LedgerOperation,
  type LedgerOutcome,
  type LedgerStore,
  openLedgerStore,
} from "../ledger/index.ts";
import { boundFor, chargeFor, type ModelPrice, PriceBook } from "../pricing/index.ts";
import { openStorage, type SqliteStorage } from "../storage/index.ts";
import { Ticker } from "../streaming/index.ts";
import { Charge, type ChargeDependencies, type ChargeRequest, estimatedUsage, usageBound } from "./charge.ts";

const markup = 1_000_000n;
const tickMs = 1_000;
const account = {
  id: "user:u",
  kind: "user",
  name: "u",
  parentId: undefined,
  prepaid: true,
  maxBudget: undefined,
  period: undefined,
} as const;
const credits = 1_000_000n;

const book = new PriceBook({
  operatorPrices: {
    "up/*": { input_mtok: 1, output_mtok: 2 },
    "window/*": { input_mtok: 1, output_mtok: 2, context_window: 1_000, max_output_tokens: 100 },
    "dear/*": { input_mtok: 1, cache_write_mtok: 3, output_mtok: 2, output_reasoning_mtok: 5, requests_kcount: 4 },
  },
  unpriced: "refuse",
  clock: () => 0,
});

function priceOf(prefix: "up" | "window" | "dear"): ModelPrice {
  const price = book.lookup({ id: `${prefix}/m`, model: "m", priceProvider: undefined });
  if (price === undefined) throw new Error("no price");
  return price;
}

describe("the most that a call can use", () => {
  const asked = { inputTokens: 50, outputTokens: 20, choices: 1 };
  const rows: [string, "up" | "window" | "dear", typeof asked | { outputTokens: undefined }, Usage][] = [
    ["is what the request says", "up", asked, { input: 50, output: 20, requests: 1 }],
    ["is so much a choice", "up", { ...asked, choices: 3 }, { input: 50, output: 60, requests: 1 }],
    ["counts the dearest way", "dear", asked, { cacheWrite5m: 50, reasoning: 20, requests: 1 }],
    [
      "is the model's cap where the request says nothing",
      "window",
      { ...asked, outputTokens: undefined },
      { input: 50, output: 100, requests: 1 },
    ],
    [
      "is assumed where nobody says",
      "up",
      { ...asked, outputTokens: undefined },
      { input: 50, output: 32_768, requests: 1 },
    ],
    [
      "lies within the window",
      "window",
      { ...asked, inputTokens: 5_000, outputTokens: 7_000 },
      { input: 1_000, output: 1_000, requests: 1 },
    ],
  ];
  test.each(rows)("%s", (_title, prefix, bound, usage) => {
    expect(usageBound(priceOf(prefix), { ...asked, ...bound })).toEqual(usage);
  });

  test("costs no less than anything within the request", () => {
    const tokens = fc.nat(100_000);
    const bound = fc.record({ inputTokens: tokens, outputTokens: tokens, choices: fc.integer({ min: 1, max: 8 }) });
    const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 4, maxLength: 4 });
    const property = fc.property(
      bound,
      shares,
      fc.constantFrom("up", "dear"),
      (each, [inAll = 0, cached = 0, outAll = 0, thought = 0], prefix) => {
        const input = Math.floor(each.inputTokens * inAll);
        const output = Math.floor(each.outputTokens * each.choices * outAll);
        const usage = {
          input: input - Math.floor(input * cached),
          cacheWrite5m: Math.floor(input * cached),
          output: output - Math.floor(output * thought),
          reasoning: Math.floor(output * thought),
          requests: 1,
        };
        const price = priceOf(prefix);
        expect(boundFor(price, usageBound(price, each), markup)).toBeGreaterThanOrEqual(
          chargeFor(price, { usage }, markup),
        );
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  test("is estimated from lengths where an upstream names no usage", () => {
    const bound = { inputTokens: 41, outputTokens: undefined, choices: 1 };
    expect(estimatedUsage(bound, 9)).toEqual({ input: 11, output: 3, requests: 1 });
    expect(estimatedUsage({ ...bound, inputTokens: 0 }, 0)).toEqual({ input: 0, output: 0, requests: 1 });
  });
});

let storage: SqliteStorage;
let store: LedgerStore & { failure?: Error | undefined; taken: string[] };
let ledger: Ledger;
let ticker: Ticker;
let now: number;
let unsettled: [string, unknown][];
let deps: ChargeDependencies;

/** A real store that notes what it is asked for, and can be made to fail. */
function failing(inner: LedgerStore): typeof store {
  const outer: typeof store = Object.assign(Object.create(inner) as LedgerStore, {
    commit: (operations: readonly LedgerOperation[]): LedgerOutcome[] | Promise<LedgerOutcome[]> => {
      if (outer.failure !== undefined) throw outer.failure;
      outer.taken.push(...operations.map(({ kind }) => kind));
      return inner.commit(operations);
    },
    taken: [],
    chain: inner.chain.bind(inner),
    openHolds: inner.openHolds.bind(inner),
    audit: inner.audit.bind(inner),
    putAccount: inner.putAccount.bind(inner),
  });
  return outer;
}

beforeEach(async () => {
  jest.useFakeTimers();
  now = 1_000_000;
  const opened = await openStorage("sqlite::memory:");
  if (opened.engine !== "sqlite") throw new Error("not SQLite");
  storage = opened;
  store = failing(openLedgerStore(storage));
  ledger = new Ledger({ store });
  ticker = new Ticker(tickMs, () => now);
  unsettled = [];
  deps = {
    ledger,
    ticker,
    clock: () => now,
    markupMillionths: markup,
    onUnsettled: (id, reason) => unsettled.push([id, reason]),
    unsettled: new Set(),
  };
  await store.putAccount(account, now);
  await ledger.submit({ kind: "grant", id: "g", accountId: account.id, amount: credits, at: now });
});
afterEach(async () => {
  ticker.stop();
  await storage.close();
  jest.useRealTimers();
});

/** 100 tokens in and 50 out at 1,000 and 2,000 nano-credits each. */
const request = (overrides: Partial<ChargeRequest> = {}): ChargeRequest => ({
  id: "req_1",
  accountId: account.id,
  purpose: "chat up/m",
  price: priceOf("up"),
  bound: { inputTokens: 100, outputTokens: 50, choices: 1 },
  ...overrides,
});
const held = 200_000n;
const usage: ObservedUsage = { usage: { input: 10, output: 5 } };
const cost = 20_000n;

async function tick(milliseconds: number): Promise<void> {
  now += milliseconds;
  jest.advanceTimersByTime(tickMs);
  await ledger.flush();
  await new Promise<void>((resolve) => setImmediate(resolve));
}

async function balances() {
  const [state] = await store.chain(account.id, now);
  return { charged: state?.debitsPosted, held: state?.debitsPending };
}

async function refusalOf(promise: Promise<unknown>): Promise<GatewayError> {
  const reason: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(reason instanceof GatewayError)) throw new Error(`no refusal: ${String(reason)}`);
  return reason;
}

describe("opening", () => {
  test("holds the most that the call can cost, durably, with a lease", async () => {
    await Charge.open(deps, request());
    expect(await balances()).toEqual({ charged: 0n, held });
    expect(await store.openHolds()).toMatchObject([
      { id: "req_1", purpose: "chat up/m", amount: held, createdAt: now, leaseUntil: now + limits.holdLeaseMs },
    ]);
  });

  test("holds the markup too", async () => {
    await Charge.open({ ...deps, markupMillionths: 1_500_000n }, request());
    expect(await balances()).toEqual({ charged: 0n, held: 300_000n });
  });

  test("is refused with 402 where there is not enough, which says what is needed and what is left", async () => {
    const error = await refusalOf(
      Charge.open(deps, request({ bound: { inputTokens: 2_000, outputTokens: 50, choices: 1 } })),
    );
    expect(error).toMatchObject({ code: "insufficient_credits", status: 402 });
    expect(error.message).toBe("Not enough credits: this call needs up to 0.0021, 0.001 are left.");
    expect(await balances()).toEqual({ charged: 0n, held: 0n });
  });

  test("is refused with advice where the request sets no limit", async () => {
    const error = await refusalOf(
      Charge.open(deps, request({ bound: { inputTokens: 1, outputTokens: undefined, choices: 1 } })),
    );
    expect(error.message).toEndWith("Set max_tokens to need less.");
  });

  test("never says that less than nothing is left", async () => {
    await ledger.submit({
      kind: "hold",
      id: "before",
      accountId: account.id,
      amount: 5n,
      purpose: "chat",
      at: now,
      leaseUntil: now + 1,
    });
    await ledger.submit({ kind: "settle", id: "before", amount: 5n, at: now });
    await store.putAccount({ ...account, maxBudget: 0n }, now);
    const error = await refusalOf(Charge.open(deps, request()));
    expect(error.message).toContain(" 0 are left.");
  });

  test("fails with 503 where the ledger is down, and leaves nothing", async () => {
    store.failure = new Error("disk full");
    expect(await refusalOf(Charge.open(deps, request()))).toMatchObject({ code: "storage_unavailable", status: 503 });
    store.failure = undefined;
    expect(await store.openHolds()).toEqual([]);
  });

  test("for an unknown account is our own mistake", async () => {
    const opening = Charge.open(deps, request({ accountId: "user:nobody" }));
    expect(await opening.catch((thrown: unknown) => thrown)).toEqual(new Error("hold req_1: no-account"));
  });

  test("never holds more than a call can sensibly cost", async () => {
    await store.putAccount({ ...account, id: "token:s", kind: "token", prepaid: false }, now);
    const absurd = { inputTokens: 1, outputTokens: Number.MAX_SAFE_INTEGER, choices: 128 };
    await Charge.open(deps, request({ accountId: "token:s", bound: absurd }));
    expect(await store.openHolds()).toMatchObject([{ amount: limits.callNanoMax }]);
  });
});

describe("the end", () => {
  test("charges what was used, and the rest returns", async () => {
    const charge = await Charge.open(deps, request());
    const settlement = charge.settle(usage);
    expect(settlement.credits).toBe(cost);
    await settlement.committed;
    expect(await balances()).toEqual({ charged: cost, held: 0n });
  });

  test("is not told before it is durable", async () => {
    const charge = await Charge.open(deps, request());
    let committed = false;
    const settlement = charge.settle(usage);
    const note = async (): Promise<void> => {
      await settlement.committed;
      committed = true;
    };
    const noted = note();
    await Promise.resolve();
    expect(committed).toBe(false);
    await noted;
    expect(await balances()).toEqual({ charged: cost, held: 0n });
  });

  test("at the upstream's own price is charged that", async () => {
    const charge = await Charge.open({ ...deps, markupMillionths: 1_100_000n }, request());
    const settlement = charge.settle({ usage: { input: 10 }, reportedCost: 50_000n });
    await settlement.committed;
    expect(await balances()).toEqual({ charged: 55_000n, held: 0n });
  });

  test("without use charges nothing", async () => {
    const charge = await Charge.open(deps, request());
    charge.release();
    await ledger.flush();
    expect(await balances()).toEqual({ charged: 0n, held: 0n });
  });

  const settle = (charge: Charge): unknown => charge.settle(usage);
  const settleOther = (charge: Charge): unknown => charge.settle({ usage: { input: 99 } });
  const release = (charge: Charge): void => charge.release();
  test.each([
    ["settled twice", [settle, settle], cost],
    ["settled with another figure", [settle, settleOther], cost],
    ["settled, then released", [settle, release], cost],
    ["released, then settled", [release, settle], 0n],
    ["released twice", [release, release], 0n],
  ])("comes once: %s", async (_title, ends, charged) => {
    const charge = await Charge.open(deps, request());
    store.taken = [];
    for (const end of ends) end(charge);
    await ledger.flush();
    expect(store.taken).toHaveLength(1);
    expect(await balances()).toEqual({ charged, held: 0n });
    expect(await store.audit()).toMatchObject({ entries: 2, openHolds: 0, drifts: [] });
    expect(unsettled).toEqual([]);
  });

  test("never charges more than a call can sensibly cost", async () => {
    const charge = await Charge.open(deps, request());
    expect(charge.settle({ usage: { input: 1e12, output: 1e12 } }).credits).toBe(limits.callNanoMax);
    await ledger.flush();
    // Not more than there is, either.
    expect(await balances()).toEqual({ charged: credits, held: 0n });
  });
});

describe("an end that the store does not take", () => {
  test("is told, holds nobody up, and is tried at each tick until it is taken, once", async () => {
    const charge = await Charge.open(deps, request());
    store.failure = new Error("disk full");
    const { committed } = charge.settle(usage);
    await committed;
    expect(unsettled).toMatchObject([["req_1", { code: "storage_unavailable" }]]);
    await tick(tickMs);
    await tick(tickMs);
    expect(unsettled).toHaveLength(3);
    expect(deps.unsettled).toEqual(new Set(["req_1"]));
    expect(await balances()).toEqual({ charged: 0n, held });
    store.failure = undefined;
    await tick(tickMs);
    expect(await balances()).toEqual({ charged: cost, held: 0n });
    expect(deps.unsettled.size).toBe(0);
    await tick(tickMs);
    await tick(tickMs);
    expect(unsettled).toHaveLength(3);
    expect(await store.audit()).toMatchObject({ entries: 2, drifts: [] });
  });

  test("is charged as of the call's end, not of the try that was taken", async () => {
    const endedAt = now;
    const charge = await Charge.open(deps, request());
    store.failure = new Error("disk full");
    await charge.settle(usage).committed;
    store.failure = undefined;
    await tick(60_000);
    const row = storage.handle
      .query<{ created_at: bigint }, [string]>("SELECT created_at FROM entries WHERE id = ?")
      .get("req_1");
    expect(Number(row?.created_at)).toBe(endedAt);
  });

  test("that is a release is tried again too", async () => {
    const charge = await Charge.open(deps, request());
    store.failure = new Error("disk full");
    charge.release();
    await ledger.flush();
    expect(await balances()).toEqual({ charged: 0n, held });
    store.failure = undefined;
    await tick(tickMs);
    expect(await balances()).toEqual({ charged: 0n, held: 0n });
  });
});

describe("while it is open", () => {
  const quarter = limits.holdLeaseMs / 4;
  const lease = async (): Promise<number | undefined> => (await store.openHolds())[0]?.leaseUntil;
  const checkpoint = async (): Promise<bigint | undefined> => (await store.openHolds())[0]?.observed;

  test("its lease is renewed each quarter, and not at every tick", async () => {
    const openedAt = now;
    await Charge.open(deps, request());
    await tick(quarter - 1);
    expect(await lease()).toBe(openedAt + limits.holdLeaseMs);
    await tick(1);
    expect(await lease()).toBe(openedAt + quarter + limits.holdLeaseMs);
    await tick(quarter - 1);
    expect(await lease()).toBe(openedAt + quarter + limits.holdLeaseMs);
    await tick(1);
    expect(await lease()).toBe(openedAt + 2 * quarter + limits.holdLeaseMs);
  });

  test("a call may take any time without being swept", async () => {
    const charge = await Charge.open(deps, request());
    for (let passed = 0; passed < 10 * limits.holdLeaseMs; passed += quarter) {
      await tick(quarter);
      expect(await ledger.submit({ kind: "sweep", at: now })).toMatchObject({ expired: 0 });
    }
    await charge.settle(usage).committed;
    expect(await balances()).toEqual({ charged: cost, held: 0n });
  });

  test("what has been observed so far is written with the lease", async () => {
    const charge = await Charge.open(deps, request());
    await tick(quarter);
    expect(await checkpoint()).toBeUndefined();
    let seen: ObservedUsage = { usage: { input: 10 } };
    charge.observeWith(() => seen);
    await tick(quarter);
    expect(await checkpoint()).toBe(10_000n);
    seen = { usage: { input: 10, output: 5 } };
    await tick(quarter);
    expect(await checkpoint()).toBe(cost);
  });

  test("after its process died, the sweep charges what was last observed", async () => {
    const charge = await Charge.open(deps, request());
    charge.observeWith(() => usage);
    await tick(quarter);
    // Nobody ticks any more.
    ticker.stop();
    await ledger.submit({ kind: "sweep", at: now + limits.holdLeaseMs + 1 });
    expect(await balances()).toEqual({ charged: cost, held: 0n });
  });

  test("a renewal that fails is told, and the next one comes in time", async () => {
    await Charge.open(deps, request());
    store.failure = new Error("disk full");
    await tick(quarter);
    expect(unsettled).toMatchObject([["req_1", { code: "storage_unavailable" }]]);
    store.failure = undefined;
    await tick(quarter);
    expect(await lease()).toBe(now + limits.holdLeaseMs);
  });

  test("an ended charge is not renewed", async () => {
    const charge = await Charge.open(deps, request());
    await charge.settle(usage).committed;
    const observed: number[] = [];
    charge.observeWith(() => {
      observed.push(now);
      return usage;
    });
    await tick(quarter);
    await tick(quarter);
    expect(observed).toEqual([]);
    expect(await store.openHolds()).toEqual([]);
  });
});
