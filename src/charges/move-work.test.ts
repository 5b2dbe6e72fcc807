/** Open work that moves to another target: its hold, its record and its charge are those of the new one. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { GatewayError, limits } from "../core/index.ts";
import {
  account,
  credits,
  heldByOrder,
  orderOf,
  priceOf,
  settled,
  tickMs,
  WorkScene,
} from "./__fixtures__/work-scene.ts";
import type { Work } from "./work.ts";

let scene: WorkScene;
beforeEach(async () => {
  scene = await WorkScene.start();
});
afterEach(() => scene.stop());

const source = { provider: "dear", model: "big", modelId: "dear/big" };

/** Holds 300 tokens in and 100 out. */
const dearer = orderOf({
  source,
  price: priceOf("window"),
  bound: { inputTokens: 300, outputTokens: 100, choices: 1 },
});

/** Holds only 50 tokens in and 10 out. */
const cheaper = orderOf({ source, bound: { inputTokens: 50, outputTokens: 10, choices: 1 } });

async function withLeft(amount: bigint): Promise<Work> {
  const work = await scene.open();
  await scene.ledger.submit({
    kind: "grant",
    id: "back",
    accountId: account.id,
    amount: amount - (credits - heldByOrder),
    at: scene.now,
  });
  return work;
}

test("to a dearer one: the hold is raised in one commit, and the record and the charge are the new target's", async () => {
  const work = await scene.open();
  expect(await work.moveTo(dearer)).toBe("moved");
  const raised = 500_000n;
  expect(scene.store.taken.map(({ kind }) => kind)).toEqual(["grant", "hold", "move"]);
  expect(await scene.store.openHolds()).toMatchObject([{ description: "chat dear/big", amount: raised }]);
  await work.end(settled({ usage: { input: 300, output: 100 } }));
  expect(scene.store.taken.at(-1)).toMatchObject({
    kind: "settle",
    amount: 500_000n,
    record: { provider: "dear", model: "big" },
  });
  expect(scene.ended).toMatchObject([{ order: { source } }]);
});

test("to a cheaper one: what it leaves is there for others at once", async () => {
  const work = await scene.open();
  expect(await work.moveTo(cheaper)).toBe("moved");
  expect(await scene.balances()).toEqual({ charged: 0n, held: 70_000n });
  await work.end({ status: 502, outcome: "failed" });
  expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
});

test("without the credits it stays where it was", async () => {
  const work = await withLeft(0n);
  expect(await work.moveTo(dearer)).toBe("unaffordable");
  expect(work.order.source.provider).toBe("up");
  expect(await scene.held()).toBe(heldByOrder);
  await work.end(settled({ usage: { input: 10 } }));
  expect(scene.store.taken.at(-1)).toMatchObject({ amount: 10_000n, record: { provider: "up" } });
});

test("what is left of a budget that only the new target counts in bounds the new request's output", async () => {
  const { handle } = scene.storage;
  handle.run(`INSERT INTO model_groups VALUES ('g', 'g', '["dear/*"]', 1, 1)`);
  handle.run("INSERT INTO budgets (id, account_id, group_id, created_at, version) VALUES ('b', ?, 'g', 1, 1)", [
    account.id,
  ]);
  handle.run("UPDATE accounts SET has_budgets = 1 WHERE id = ?", [account.id]);
  const budget = { ...account, id: "budget:b", kind: "budget", prepaid: false, maxBudget: 180_000n } as const;
  await scene.store.putAccount(budget, scene.now);
  const work = await scene.open();
  const output = { wanted: 1_000, least: 10, limits: "if-fewer" } as const;
  expect(await work.moveTo(orderOf({ source, output }))).toBe("moved");
  // 180,000 pay for 100 tokens in and 40 out.
  expect([work.limits.outputTokens, await scene.held()]).toEqual([40, 180_000n]);
});

test("with credits for less output, the new request is limited to that", async () => {
  const work = await withLeft(0n);
  const output = { wanted: 1_000, least: 10, limits: "if-fewer" } as const;
  expect(await work.moveTo(orderOf({ source, output }))).toBe("moved");
  // 200,000 pay for 100 tokens in and 50 out.
  expect([work.limits.outputTokens, await scene.held()]).toEqual([50, heldByOrder]);
});

describe("to a target whose hosted tools have no limit", () => {
  const toolRuns = { most: 3, each: { toolUnits: { webSearches: 1 } } };
  // What a search brings in does not fit beside the input.
  const searching = orderOf({
    source,
    price: { ...priceOf("up"), contextWindow: 100 },
    bound: { inputTokens: 100, outputTokens: undefined, choices: 1, toolRuns },
    output: { wanted: 100, least: 50, limits: "if-fewer" },
  });

  test("as many runs are held as the credits suffice for, and its request is limited to them", async () => {
    const work = await withLeft(200_000n);
    expect(await work.moveTo(searching)).toBe("moved");
    // 100,000 each for the input, for two searches, and for 50 tokens of output.
    expect([work.limits, await scene.held()]).toEqual([{ outputTokens: 50, toolRuns: 2 }, 400_000n]);
    expect(work.order.bound.toolUnits).toEqual({ webSearches: 2 });
    expect(await work.moveTo(cheaper)).toBe("moved");
    expect([work.limits, await scene.held()]).toEqual([{ outputTokens: undefined, toolRuns: undefined }, 70_000n]);
    expect(await work.moveTo(searching)).toBe("moved");
    expect(work.limits.toolRuns).toBe(2);
  });

  test("without the credits for one run it stays where it was", async () => {
    const work = await withLeft(0n);
    expect(await work.moveTo(searching)).toBe("unaffordable");
    expect([work.limits.toolRuns, await scene.held()]).toEqual([undefined, heldByOrder]);
  });
});

test("the new hold is topped up at the new price", async () => {
  const work = await scene.open({ output: { wanted: 50, least: 50, limits: "never" } });
  await work.moveTo(cheaper);
  work.meter(
    () => ({ usage: { input: 80 } }),
    () => undefined,
  );
  await scene.tick(tickMs);
  expect(scene.store.taken.at(-1)).toMatchObject({ kind: "top-up", amount: 160_000n });
});

test("the markup of an organisation counts at the new target too", async () => {
  const principal = { ...orderOf().principal, markup: 2_000_000 };
  const work = await scene.open({ principal });
  await work.moveTo({ ...cheaper, principal });
  expect(await scene.held()).toBe(140_000n);
});

describe("a hold that expired meanwhile", () => {
  const expire = async (): Promise<void> => {
    scene.now += limits.holdLeaseMs + 1;
    await scene.ledger.submit({ kind: "sweep", at: scene.now });
  };

  test("is taken again, and moved", async () => {
    const work = await scene.open();
    await expire();
    expect(await work.moveTo(cheaper)).toBe("moved");
    expect(await scene.balances()).toEqual({ charged: 0n, held: 70_000n });
    await work.end(settled({ usage: { input: 10 } }));
    await scene.ledger.flush();
    expect(await scene.balances()).toEqual({ charged: 10_000n, held: 0n });
  });

  test("ends the work where nothing is left", async () => {
    const work = await scene.open();
    await expire();
    await scene.ledger.submit({ kind: "grant", id: "back", accountId: account.id, amount: -credits, at: scene.now });
    const moving: unknown = await work.moveTo(cheaper).catch((thrown: unknown) => thrown);
    expect(moving).toBeInstanceOf(Error);
    await work.end({ status: 500, outcome: "interrupted" });
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
  });
});

test("a store that cannot be asked ends it, whatever it has committed", async () => {
  const work = await scene.open();
  scene.store.loses = true;
  const reason: unknown = await work.moveTo(dearer).catch((thrown: unknown) => thrown);
  expect(reason).toBeInstanceOf(GatewayError);
  scene.store.loses = false;
  await work.end({ status: 503, outcome: "interrupted" });
  await scene.ledger.flush();
  expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
});

test("what the caller's headers name stays with work that is moved", async () => {
  const trace = { traceId: "a".repeat(32), spanId: "b".repeat(16), isSampled: true };
  const work = await scene.open({ clientRequestId: "mine", session: "thread", trace });
  expect(await work.moveTo(cheaper)).toBe("moved");
  expect(work.order).toMatchObject({ clientRequestId: "mine", session: "thread", trace });
});
