/** Holds whose store commits and fails to answer, or answers while something else of the same hold is under way. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type GatewayError, limits, type ObservedUsage } from "../core/index.ts";
import type { LedgerOperation } from "../ledger/index.ts";
import { account, credits, heldByOrder, refusalOf, settled, tickMs, WorkScene } from "./__fixtures__/work-scene.ts";
import type { ParkedWork } from "./parked-work.ts";
import type { Work } from "./work.ts";

let scene: WorkScene;
let seen: ObservedUsage | undefined;
let givenUp: GatewayError[];
beforeEach(async () => {
  scene = await WorkScene.start();
  seen = undefined;
  givenUp = [];
});
afterEach(() => scene.stop());

async function open(): Promise<Work> {
  const work = await scene.open();
  work.meter(
    () => seen,
    (error) => givenUp.push(error),
  );
  return work;
}

/** Sets the cost of the work so far. */
function costs(amount: bigint): void {
  seen = { usage: { input: Number(amount / 1_000n) } };
}

/** Leaves this amount available beside the hold of the order. */
async function leave(amount: bigint): Promise<void> {
  const { id: accountId } = account;
  const call = { operation: "chat", provider: "up", model: "m", dialect: undefined, streamed: false } as const;
  const at = scene.now;
  const rest = { id: "other", accountId, amount: credits - heldByOrder - amount, at, leaseUntil: at + 1e9 };
  await scene.ledger.submit({ kind: "hold", ...call, ...rest });
}

/** Another node ends the hold, while this one is paused. */
async function expire(): Promise<void> {
  scene.now += limits.holdLeaseMs + 1;
  await scene.ledger.submit({ kind: "sweep", at: scene.now });
}

/** Commits without an answer while `isLost` is true of an operation. */
function loseAnswers(isLost: (operation: LedgerOperation) => boolean): void {
  const commit = scene.store.commit.bind(scene.store);
  scene.store.commit = async (operations) => {
    const outcomes = await commit(operations);
    if (operations.some(isLost)) throw new Error("the connection was cut");
    return outcomes;
  };
}

/** Runs what follows from one commit after another. */
async function commits(): Promise<void> {
  for (let commit = 0; commit < 3; commit += 1) {
    await scene.ledger.flush();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

const holds = async (): Promise<(string | bigint)[][]> =>
  (await scene.store.openHolds()).map(({ id, amount }) => [id, amount]);

describe("a top-up that was committed without an answer", () => {
  test("and took the last credits is known of when it is repeated: the work goes on up to there", async () => {
    const work = await open();
    await leave(30_000n);
    let lost = 0;
    // The second one: all that are available.
    loseAnswers(({ kind, ...rest }) => {
      const isRest = kind === "top-up" && "amount" in rest && rest.amount === heldByOrder + 30_000n;
      return isRest && lost++ === 0;
    });
    costs(200_000n);
    const waits = work.keepUp();
    expect(waits).toBeInstanceOf(Promise);
    await commits();
    expect(await scene.held()).toBe(230_000n);
    await scene.tick(tickMs);
    await scene.tick(tickMs);
    await scene.tick(tickMs);
    await waits;
    expect(givenUp).toEqual([]);
    expect(work.keepUp()).toBeUndefined();
    costs(230_000n);
    await scene.tick(tickMs);
    await scene.tick(tickMs);
    expect(givenUp).toMatchObject([{ code: "insufficient_credits" }]);
    await work.end(settled({ usage: { input: 230 } }, { outcome: "interrupted" }));
    expect((await scene.balances()).charged).toBe(230_000n);
    expect(await scene.store.audit()).toMatchObject({ shortfall: 0n, drifts: [] });
  });

  test("for what is ahead is asked for again, with the same total, and counts once", async () => {
    const work = await open();
    await leave(100_000n);
    let lost = 0;
    loseAnswers(({ kind }) => kind === "top-up" && lost++ === 0);
    const ahead = { input: 250 };
    expect(await refusalOf(work.cover(ahead))).toMatchObject({ code: "storage_unavailable" });
    await work.cover(ahead);
    expect(await holds()).toContainEqual(["req_1", 250_000n]);
    expect((await refusalOf(work.cover({ input: 400 }))).message).toBe(
      "Not enough credits: 0.0004 must be held to go on, and 0.0003 are left.",
    );
  });

  test("is not assumed to be held: one that was not committed is committed later", async () => {
    const work = await open();
    scene.store.failure = new Error("refused");
    expect(await refusalOf(work.cover({ input: 250 }))).toMatchObject({ code: "storage_unavailable" });
    scene.store.failure = undefined;
    costs(200_000n);
    expect(work.keepUp()).toBeInstanceOf(Promise);
    await commits();
    expect(await scene.held()).toBe(2n * heldByOrder);
  });
});

describe("a hold that has expired", () => {
  test("covers what is ahead only once the new one is raised so far", async () => {
    const work = await open();
    await expire();
    await work.cover({ input: 250 });
    expect(await holds()).toEqual([["req_1:again", 250_000n]]);
    await work.end(settled({ usage: { input: 250 } }));
    expect(await scene.balances()).toEqual({ charged: 250_000n, held: 0n });
  });

  test("covers nothing that is ahead if no new one can be taken", async () => {
    const work = await open();
    await expire();
    await leave(-heldByOrder);
    await leave(-heldByOrder);
    const refused = await refusalOf(work.cover({ input: 250 }));
    expect(refused.code).toBe("insufficient_credits");
    expect(givenUp).toHaveLength(1);
  });

  test("and is taken again without an answer is not left open by the end of the work", async () => {
    const work = await open();
    await expire();
    loseAnswers(({ kind, id }: LedgerOperation & { id?: string }) => kind === "hold" && id === "req_1:again");
    await scene.tick(limits.holdLeaseMs / 4);
    expect(await holds()).toEqual([["req_1:again", heldByOrder]]);
    await work.end(settled({ usage: { input: 10 } }));
    await scene.ledger.flush();
    expect(await scene.balances()).toEqual({ charged: 10_000n, held: 0n });
    expect(await scene.store.audit()).toMatchObject({ openHolds: 0, drifts: [] });
  });
});

describe("a hand-over", () => {
  let held: string | undefined;
  const save = ({ held: amount }: ParkedWork): Promise<void> => {
    held = amount;
    return Promise.resolve();
  };
  const until = 1_000_000_000;

  test("waits for a raise for what is ahead: its job knows the amount", async () => {
    const work = await open();
    const covering = work.cover({ input: 250 });
    await work.handOver(until, save);
    await covering;
    expect(held).toBe("250000");
  });

  test("waits for a renewal and a top-up that are under way together", async () => {
    const work = await open();
    costs(199_000n);
    scene.now += limits.holdLeaseMs / 4;
    const ticking = scene.tick(tickMs);
    await work.handOver(until, save);
    await ticking;
    expect(held).toBe("400000");
    expect(await scene.store.openHolds()).toMatchObject([{ keeper: "job", amount: 400_000n, leaseUntil: until }]);
  });

  test("lets a raise for what is ahead begin afterwards, or not at all", async () => {
    const work = await open();
    const saving = Promise.withResolvers<void>();
    const handing = work.handOver(until, async (parked) => {
      await save(parked);
      await saving.promise;
    });
    const covering = work.cover({ input: 250 });
    await scene.ledger.flush();
    expect(await scene.held()).toBe(heldByOrder);
    saving.resolve();
    await Promise.all([handing, covering]);
    expect([held, await scene.held()]).toEqual(["200000", heldByOrder]);
  });

  test("that fails lets it begin then", async () => {
    const work = await open();
    const saving = Promise.withResolvers<void>();
    const handing = work.handOver(until, () => saving.promise);
    const covering = work.cover({ input: 250 });
    saving.reject(new Error("nothing was stored"));
    await Promise.allSettled([handing, covering]);
    expect(await scene.held()).toBe(250_000n);
  });
});

test("credits that run out while commits stall end the work, and nothing waits for ever", async () => {
  const work = await open();
  await leave(10_000n);
  const commit = scene.store.commit.bind(scene.store);
  const stalls: (() => void)[] = [];
  scene.store.commit = async (operations) => {
    await new Promise<void>((resolve) => stalls.push(resolve));
    return commit(operations);
  };
  costs(205_000n);
  let turns = 0;
  for (let waits = work.keepUp(); waits !== undefined && givenUp.length === 0; waits = work.keepUp()) {
    turns += 1;
    const isOver = waits.then(() => true);
    while (!(await Promise.race([isOver, new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))])))
      stalls.shift()?.();
    costs(210_000n);
  }
  expect(turns).toBeLessThan(4);
  expect(givenUp).toMatchObject([{ code: "insufficient_credits" }]);
  scene.store.commit = commit;
  for (const goOn of stalls) goOn();
});
