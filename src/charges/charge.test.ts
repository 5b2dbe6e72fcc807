import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { limits, type ObservedUsage } from "../core/index.ts";
import {
  account,
  WorkScene,
  credits,
  failed,
  heldByOrder,
  priceOf,
  refusalOf,
  settled,
  tickMs,
} from "./__fixtures__/work-scene.ts";
import type { Work } from "./work.ts";

let scene: WorkScene;
beforeEach(async () => {
  scene = await WorkScene.start();
});
afterEach(() => scene.stop());

const usage: ObservedUsage = { usage: { input: 10, output: 5 } };
const cost = 20_000n;

const neverGivesUp = (): void => {
  throw new Error("it gave up");
};

describe("opening", () => {
  test("holds the most that the call can cost, durably, with a lease", async () => {
    await scene.open();
    expect(await scene.balances()).toEqual({ charged: 0n, held: heldByOrder });
    expect(await scene.store.openHolds()).toMatchObject([
      {
        id: "req_1",
        description: "chat up/m",
        amount: heldByOrder,
        createdAt: scene.now,
        leaseUntil: scene.now + limits.holdLeaseMs,
      },
    ]);
  });

  test("holds the markup too", async () => {
    await scene.open({ price: { ...priceOf("up"), markup: 1_500_000n } });
    expect(await scene.balances()).toEqual({ charged: 0n, held: 300_000n });
  });

  test("is refused with 402 if the credits do not suffice, stating the required and the available amount", async () => {
    const error = await refusalOf(scene.open({ bound: { inputTokens: 2_000, outputTokens: 50, choices: 1 } }));
    expect(error).toMatchObject({ code: "insufficient_credits", status: 402 });
    expect(error.message).toBe("Not enough credits: this call needs up to 0.0021, 0.001 are left.");
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
  });

  test("never reports less than zero available credits", async () => {
    await scene.ledger.submit({
      kind: "hold",
      id: "before",
      accountId: account.id,
      amount: 5n,
      operation: "chat",
      provider: "up",
      model: "m",
      dialect: undefined,
      streamed: false,
      at: scene.now,
      leaseUntil: scene.now + 1,
    });
    await scene.ledger.submit({ kind: "settle", id: "before", amount: 5n, at: scene.now });
    await scene.store.putAccount({ ...account, maxBudget: 0n }, scene.now);
    const error = await refusalOf(scene.open());
    expect(error.message).toContain(" 0 are left.");
  });

  test("fails with 503 if the ledger is down, and leaves no hold", async () => {
    scene.store.failure = new Error("disk full");
    expect(await refusalOf(scene.open())).toMatchObject({ code: "storage_unavailable", status: 503 });
    scene.store.failure = undefined;
    expect(await scene.store.openHolds()).toEqual([]);
  });

  test("for an unknown account is an internal error", async () => {
    const opening = scene.open({ accountId: "user:nobody" });
    expect(await opening.catch((thrown: unknown) => thrown)).toEqual(new Error("hold req_1: no-account"));
  });

  test("never holds more than the maximum cost of a call", async () => {
    await scene.store.putAccount({ ...account, id: "token:s", kind: "token", prepaid: false }, scene.now);
    const absurd = { inputTokens: 1, outputTokens: Number.MAX_SAFE_INTEGER, choices: 128 };
    await scene.open({ accountId: "token:s", bound: absurd });
    expect(await scene.store.openHolds()).toMatchObject([{ amount: limits.callNanoMax }]);
  });
});

describe("the end", () => {
  test("charges the usage and returns the remainder", async () => {
    const charge = await scene.open();
    expect(charge.costOf(usage)).toBe(cost);
    await charge.end(settled(usage));
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test("resolves only once it is durable", async () => {
    const charge = await scene.open();
    let committed = false;
    const settlement = charge.end(settled(usage));
    const note = async (): Promise<void> => {
      await settlement;
      committed = true;
    };
    const noted = note();
    await Promise.resolve();
    expect(committed).toBe(false);
    await noted;
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test("at the upstream's own price charges that", async () => {
    const charge = await scene.open({ price: { ...priceOf("up"), markup: 1_100_000n } });
    await charge.end(settled({ usage: { input: 10 }, reportedCost: 50_000n }));
    expect(await scene.balances()).toEqual({ charged: 55_000n, held: 0n });
  });

  test("without use charges nothing", async () => {
    const charge = await scene.open();
    await charge.end(failed);
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
  });

  const settle = (charge: Work): Promise<unknown> => charge.end(settled(usage));
  const settleOther = (charge: Work): Promise<unknown> => charge.end(settled({ usage: { input: 99 } }));
  const release = (charge: Work): Promise<unknown> => charge.end(failed);
  test.each([
    ["settled twice", [settle, settle], cost],
    ["settled with another figure", [settle, settleOther], cost],
    ["settled, then released", [settle, release], cost],
    ["released, then settled", [release, settle], 0n],
    ["released twice", [release, release], 0n],
  ])("comes once: %s", async (_title, ends, charged) => {
    const charge = await scene.open();
    scene.store.taken.length = 0;
    await Promise.all(ends.map((endIt) => endIt(charge)));
    expect(scene.store.taken).toHaveLength(1);
    expect(await scene.balances()).toEqual({ charged, held: 0n });
    expect(await scene.store.audit()).toMatchObject({ entries: 2, openHolds: 0, drifts: [] });
    expect(scene.unsettled).toEqual([]);
  });

  test("never charges more than the maximum cost of a call", async () => {
    const charge = await scene.open();
    const absurd = { usage: { input: 1e12, output: 1e12 } };
    expect(charge.costOf(absurd)).toBe(limits.callNanoMax);
    await charge.end(settled(absurd));
    await scene.ledger.flush();
    // And no more than that.
    expect(await scene.balances()).toEqual({ charged: credits, held: 0n });
  });
});

describe("an end that the store does not accept", () => {
  test("is reported, delays nothing, and is retried at each tick until it is accepted, once", async () => {
    const charge = await scene.open();
    scene.store.failure = new Error("disk full");
    await charge.end(settled(usage));
    expect(scene.unsettled).toMatchObject([["req_1", { code: "storage_unavailable" }]]);
    await scene.tick(tickMs);
    await scene.tick(tickMs);
    expect(scene.unsettled).toHaveLength(3);
    expect([...scene.deps.unsettled.keys()]).toEqual(["req_1"]);
    expect(await scene.balances()).toEqual({ charged: 0n, held: heldByOrder });
    scene.store.failure = undefined;
    await scene.tick(tickMs);
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
    expect(scene.deps.unsettled.size).toBe(0);
    await scene.tick(tickMs);
    await scene.tick(tickMs);
    expect(scene.unsettled).toHaveLength(3);
    expect(await scene.store.audit()).toMatchObject({ entries: 2, drifts: [] });
  });

  test("is charged at the time of the call's end, not of the accepted attempt", async () => {
    const endedAt = scene.now;
    const charge = await scene.open();
    scene.store.failure = new Error("disk full");
    await charge.end(settled(usage));
    scene.store.failure = undefined;
    await scene.tick(60_000);
    const row = scene.storage.handle
      .query<{ created_at: bigint }, [string]>("SELECT created_at FROM entries WHERE id = ?")
      .get("req_1");
    expect(Number(row?.created_at)).toBe(endedAt);
  });

  test("is retried if it is a release, too", async () => {
    const charge = await scene.open();
    scene.store.failure = new Error("disk full");
    await charge.end(failed);
    expect(await scene.balances()).toEqual({ charged: 0n, held: heldByOrder });
    scene.store.failure = undefined;
    await scene.tick(tickMs);
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
  });
});

describe("while it is open", () => {
  const quarter = limits.holdLeaseMs / 4;
  const lease = async (): Promise<number | undefined> => (await scene.store.openHolds())[0]?.leaseUntil;
  const checkpoint = async (): Promise<bigint | undefined> => (await scene.store.openHolds())[0]?.observed;

  test("its lease is renewed each quarter, and not at every tick", async () => {
    const openedAt = scene.now;
    await scene.open();
    await scene.tick(quarter - 1);
    expect(await lease()).toBe(openedAt + limits.holdLeaseMs);
    await scene.tick(1);
    expect(await lease()).toBe(openedAt + quarter + limits.holdLeaseMs);
    await scene.tick(quarter - 1);
    expect(await lease()).toBe(openedAt + quarter + limits.holdLeaseMs);
    await scene.tick(1);
    expect(await lease()).toBe(openedAt + 2 * quarter + limits.holdLeaseMs);
  });

  test("a call may take any time without being swept", async () => {
    const charge = await scene.open();
    for (let passed = 0; passed < 10 * limits.holdLeaseMs; passed += quarter) {
      await scene.tick(quarter);
      expect(await scene.ledger.submit({ kind: "sweep", at: scene.now })).toMatchObject({ expired: 0 });
    }
    await charge.end(settled(usage));
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test("the usage observed so far is stored with the lease", async () => {
    const charge = await scene.open();
    await scene.tick(quarter);
    expect(await checkpoint()).toBeUndefined();
    let seen: ObservedUsage = { usage: { input: 10 } };
    charge.meter(() => seen, neverGivesUp);
    await scene.tick(quarter);
    expect(await checkpoint()).toBe(10_000n);
    seen = { usage: { input: 10, output: 5 } };
    await scene.tick(quarter);
    expect(await checkpoint()).toBe(cost);
  });

  test("a cost that grows is stored every two seconds, and one that does not is not", async () => {
    const charge = await scene.open();
    let input = 10;
    charge.meter(() => ({ usage: { input } }), neverGivesUp);
    await scene.tick(tickMs);
    expect(await checkpoint()).toBeUndefined();
    await scene.tick(tickMs);
    expect(await checkpoint()).toBe(10_000n);
    const renewals = (): number => scene.store.taken.filter(({ kind }) => kind === "renew").length;
    await scene.tick(10 * tickMs);
    expect(renewals()).toBe(1);
    input = 11;
    await scene.tick(tickMs);
    expect([await checkpoint(), renewals()]).toEqual([11_000n, 2]);
  });

  test("after its process died, the sweep charges the last observed usage", async () => {
    const charge = await scene.open();
    charge.meter(() => usage, neverGivesUp);
    await scene.tick(quarter);
    // Nothing ticks any more.
    scene.ticker.stop();
    await scene.ledger.submit({ kind: "sweep", at: scene.now + limits.holdLeaseMs + 1 });
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test("a failed renewal is reported, and the next one comes in time", async () => {
    await scene.open();
    scene.store.failure = new Error("disk full");
    await scene.tick(quarter);
    expect(scene.unsettled).toMatchObject([["req_1", { code: "storage_unavailable" }]]);
    scene.store.failure = undefined;
    await scene.tick(quarter);
    expect(await lease()).toBe(scene.now + limits.holdLeaseMs);
  });

  test("an ended charge is not renewed", async () => {
    const charge = await scene.open();
    await charge.end(settled(usage));
    const observed: number[] = [];
    charge.meter(() => {
      observed.push(scene.now);
      return usage;
    }, neverGivesUp);
    await scene.tick(quarter);
    await scene.tick(quarter);
    expect(observed).toEqual([]);
    expect(await scene.store.openHolds()).toEqual([]);
  });
});
