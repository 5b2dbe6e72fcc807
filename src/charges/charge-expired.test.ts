/** Calls whose hold was ended by another node, or whose hold is uncertain. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type GatewayError, limits, type ObservedUsage } from "../core/index.ts";
import { account, WorkScene, credits, failed, heldByOrder, settled, tickMs } from "./__fixtures__/work-scene.ts";

let scene: WorkScene;
let givenUp: GatewayError[];
beforeEach(async () => {
  scene = await WorkScene.start();
  givenUp = [];
});
afterEach(() => scene.stop());

const used: ObservedUsage = { usage: { input: 10, output: 5 } };
const cost = 20_000n;

/** Opens a call, and lets another node end its hold while this one is paused. */
async function openAndExpire() {
  const charge = await scene.open();
  charge.meter(
    () => undefined,
    (error) => givenUp.push(error),
  );
  scene.now += limits.holdLeaseMs + 1;
  await scene.ledger.submit({ kind: "sweep", at: scene.now });
  expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
  return charge;
}

describe("a call whose hold has expired", () => {
  test("takes a new hold and is charged once", async () => {
    const charge = await openAndExpire();
    await scene.tick(tickMs);
    expect((await scene.balances()).held).toBe(heldByOrder);
    expect(givenUp).toEqual([]);
    await charge.end(settled(used));
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
    expect(await scene.store.audit()).toMatchObject({ openHolds: 0, shortfall: 0n, drifts: [] });
    expect(scene.unsettled).toEqual([]);
  });

  test("renews that hold too, and takes a third one if it expires again", async () => {
    const charge = await openAndExpire();
    await scene.tick(tickMs);
    for (let passed = 0; passed < 2 * limits.holdLeaseMs; passed += limits.holdLeaseMs / 4) {
      await scene.tick(limits.holdLeaseMs / 4);
      await scene.ledger.submit({ kind: "sweep", at: scene.now });
    }
    expect((await scene.balances()).held).toBe(heldByOrder);
    scene.now += limits.holdLeaseMs + 1;
    await scene.ledger.submit({ kind: "sweep", at: scene.now });
    await scene.tick(tickMs);
    expect((await scene.balances()).held).toBe(heldByOrder);
    await charge.end(settled(used));
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test("and whose process died is charged once, however often its holds expired", async () => {
    const charge = await scene.open();
    let seen: ObservedUsage = { usage: { input: 40 } };
    charge.meter(
      () => seen,
      (error) => givenUp.push(error),
    );
    await scene.tick(limits.holdLeaseMs / 4);
    const lapse = async (): Promise<void> => {
      scene.now += limits.holdLeaseMs + 1;
      await scene.ledger.submit({ kind: "sweep", at: scene.now });
    };
    await lapse();
    expect(await scene.balances()).toEqual({ charged: 40_000n, held: 0n });
    await scene.tick(tickMs);
    seen = { usage: { input: 90 } };
    await scene.tick(limits.holdLeaseMs / 4);
    await lapse();
    expect(await scene.balances()).toEqual({ charged: 90_000n, held: 0n });
    await charge.end(settled({ usage: { input: 100 } }));
    expect(await scene.balances()).toEqual({ charged: 100_000n, held: 0n });
    expect(await scene.store.audit()).toMatchObject({ openHolds: 0, drifts: [] });
  });

  test("and whose process died after a renewal with a lost answer is charged once", async () => {
    const charge = await scene.open();
    charge.meter(
      () => ({ usage: { input: 40 } }),
      (error) => givenUp.push(error),
    );
    const commit = scene.store.commit.bind(scene.store);
    scene.store.commit = async (operations) => {
      await commit(operations);
      throw new Error("the connection was cut");
    };
    await scene.tick(limits.holdLeaseMs / 4);
    scene.store.commit = commit;
    scene.now += limits.holdLeaseMs + 1;
    await scene.ledger.submit({ kind: "sweep", at: scene.now });
    await scene.tick(tickMs);
    await scene.tick(limits.holdLeaseMs / 4);
    scene.now += limits.holdLeaseMs + 1;
    await scene.ledger.submit({ kind: "sweep", at: scene.now });
    expect(await scene.balances()).toEqual({ charged: 40_000n, held: 0n });
  });

  test("ends if no credits are available", async () => {
    const charge = await openAndExpire();
    const amount = credits;
    const { now } = scene;
    await scene.ledger.submit({
      kind: "hold",
      id: "other",
      accountId: account.id,
      amount,
      operation: "chat",
      provider: "up",
      model: "m",
      dialect: undefined,
      streamed: false,
      at: now,
      leaseUntil: now + 1_000_000,
    });
    await scene.tick(tickMs);
    expect(givenUp).toMatchObject([{ code: "insufficient_credits" }]);
    await charge.end(failed);
    expect(await scene.balances()).toEqual({ charged: 0n, held: amount });
  });
});

test("a hold whose answer was lost is released as soon as the store is available", async () => {
  const commit = scene.store.commit.bind(scene.store);
  scene.store.commit = async (operations) => {
    await commit(operations);
    throw new Error("the connection was cut");
  };
  const refused: unknown = await scene.open().catch((thrown: unknown) => thrown);
  expect(refused).toMatchObject({ code: "storage_unavailable" });
  scene.store.commit = commit;
  for (let ticks = 0; ticks < 4; ticks += 1) await scene.tick(tickMs);
  expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
  expect(scene.deps.unsettled.size).toBe(0);
});
