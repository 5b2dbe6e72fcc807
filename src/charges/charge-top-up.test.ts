/** A call that costs more than its hold: the hold grows as long as credits are available. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type GatewayError, limits, type ObservedUsage } from "../core/index.ts";
import { account, WorkScene, credits, heldByOrder, settled, tickMs } from "./__fixtures__/work-scene.ts";
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

async function open(overrides: Parameters<WorkScene["open"]>[0] = {}): Promise<Work> {
  const charge = await scene.open(overrides);
  charge.meter(
    () => seen,
    (error) => givenUp.push(error),
  );
  return charge;
}

/** Sets the cost of the call so far. */
function costs(amount: bigint): void {
  seen = { usage: { input: Number(amount / 1_000n) } };
}

/** Leaves this amount available beside the call's hold. */
async function leave(amount: bigint): Promise<void> {
  const rest = credits - heldByOrder - amount;
  await scene.ledger.submit({
    kind: "hold",
    id: "other",
    accountId: account.id,
    amount: rest,
    operation: "chat",
    provider: "up",
    model: "m",
    dialect: undefined,
    streamed: false,
    at: scene.now,
    leaseUntil: scene.now + 1_000_000,
  });
}

const aTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const kinds = (): string[] => scene.store.taken.map(({ kind }) => kind);

describe("the hold", () => {
  test("stays the same up to a cost of three quarters of it", async () => {
    await open();
    costs(150_000n);
    await scene.tick(tickMs);
    expect(await scene.held()).toBe(heldByOrder);
    expect(kinds()).not.toContain("top-up");
  });

  test("is doubled beyond that, repeatedly", async () => {
    await open();
    costs(151_000n);
    await scene.tick(tickMs);
    expect(await scene.held()).toBe(2n * heldByOrder);
    await scene.tick(tickMs);
    expect(await scene.held()).toBe(2n * heldByOrder);
    costs(301_000n);
    await scene.tick(tickMs);
    expect(await scene.held()).toBe(4n * heldByOrder);
    expect(await scene.balances()).toEqual({ charged: 0n, held: 4n * heldByOrder });
    expect(givenUp).toEqual([]);
  });

  test("is raised to twice the cost if the cost has exceeded it", async () => {
    await open();
    costs(450_000n);
    await scene.tick(tickMs);
    expect(await scene.held()).toBe(900_000n);
  });

  test("is compared with the cost once a second, not at every tick", async () => {
    await open();
    costs(151_000n);
    await scene.tick(999);
    expect(await scene.held()).toBe(heldByOrder);
    await scene.tick(1);
    expect(await scene.held()).toBe(2n * heldByOrder);
  });

  test("is never raised above the maximum cost of a call", async () => {
    await scene.store.putAccount({ ...account, id: "token:s", kind: "token", prepaid: false }, scene.now);
    await open({ accountId: "token:s" });
    seen = { usage: { input: 1e12, output: 1e12 } };
    await scene.tick(tickMs);
    await scene.tick(tickMs);
    expect(await scene.held()).toBe(limits.callNanoMax);
    expect(givenUp).toEqual([]);
  });

  test("stays the same for a call without a meter", async () => {
    await scene.open();
    await scene.tick(tickMs);
    expect(kinds()).not.toContain("top-up");
  });

  test("is the source of the charge", async () => {
    const charge = await open();
    costs(151_000n);
    await scene.tick(tickMs);
    await charge.end(settled({ usage: { input: 390 } }));
    expect(await scene.balances()).toEqual({ charged: 390_000n, held: 0n });
    expect(await scene.store.audit()).toMatchObject({ shortfall: 0n, drifts: [], openHolds: 0 });
  });

  test("of a call that has ended is not raised", async () => {
    const charge = await open();
    costs(151_000n);
    await charge.end(settled({ usage: { input: 151 } }));
    await scene.tick(tickMs);
    expect(kinds()).not.toContain("top-up");
  });
});

describe("if the credits do not suffice to double it", () => {
  test("it takes all that are available", async () => {
    await open();
    await leave(30_000n);
    costs(151_000n);
    await scene.tick(tickMs);
    expect(await scene.held()).toBe(heldByOrder + 30_000n);
    expect(givenUp).toEqual([]);
  });

  test("the call continues until the hold is used up, and then ends", async () => {
    const charge = await open();
    await leave(30_000n);
    costs(229_000n);
    await scene.tick(tickMs);
    expect(await scene.held()).toBe(230_000n);
    await scene.tick(tickMs);
    expect(givenUp).toEqual([]);
    costs(230_000n);
    await scene.tick(tickMs);
    expect(givenUp).toMatchObject([{ code: "insufficient_credits", status: 402 }]);
    expect(givenUp[0]?.message).toBe(
      "The credits are used up: this call has cost 0.00023, and nothing is left to go on with.",
    );
    await charge.end(settled({ usage: { input: 230 } }, { outcome: "interrupted" }));
    expect((await scene.balances()).charged).toBe(230_000n);
    expect(await scene.store.audit()).toMatchObject({ shortfall: 0n, drifts: [] });
  });

  test("with none available it stays the same, and the call ends at its limit", async () => {
    await open();
    await leave(0n);
    costs(199_000n);
    await scene.tick(tickMs);
    expect(givenUp).toEqual([]);
    costs(200_000n);
    await scene.tick(tickMs);
    expect(await scene.held()).toBe(heldByOrder);
    expect(givenUp).toHaveLength(1);
  });

  test("a call that has ended meanwhile is not ended again", async () => {
    const charge = await open();
    await leave(0n);
    costs(200_000n);
    const ticking = scene.tick(tickMs);
    await Promise.all([ticking, charge.end(settled({ usage: { input: 200 } }))]);
    expect(kinds()).toContain("top-up");
    expect(givenUp).toEqual([]);
    expect(await scene.balances()).toMatchObject({ charged: 200_000n });
  });

  test("the call continues if credits arrive in time", async () => {
    await open();
    await leave(0n);
    costs(199_000n);
    await scene.tick(tickMs);
    const grant = { kind: "grant", id: "more", accountId: account.id, amount: credits, at: scene.now } as const;
    await scene.ledger.submit(grant);
    costs(250_000n);
    await scene.tick(tickMs);
    expect(await scene.held()).toBe(500_000n);
    expect(givenUp).toEqual([]);
  });
});

test("a store that is down neither ends the call nor stops the next attempt", async () => {
  await open();
  costs(300_000n);
  scene.store.failure = new Error("disk full");
  await scene.tick(tickMs);
  expect(scene.unsettled).toMatchObject([["req_1", { code: "storage_unavailable" }]]);
  expect(givenUp).toEqual([]);
  scene.store.failure = undefined;
  // The next attempt waits a moment.
  await scene.tick(tickMs);
  await scene.tick(tickMs);
  expect(await scene.held()).toBe(600_000n);
});

describe("output that passes by", () => {
  /** 100 tokens in; the text so far costs 2,000 nano-credits for each four bytes. */
  const text = (bytes: number): void => {
    seen = { usage: { input: 100, output: Math.ceil(bytes / 4) } };
  };

  test("is compared with the hold where three quarters of it are used, and where it is used up", async () => {
    const work = await open();
    text(0);
    // 50,000 more are three quarters of 200,000: 25 tokens.
    expect(work.follow(0)).toEqual({ untilBytes: 100, raised: undefined });
    await leave(0n);
    text(104);
    expect(work.follow(104)).toEqual({ untilBytes: 104 + 96, raised: undefined });
  });

  test("waits only if the hold is used up before it is raised", async () => {
    const work = await open();
    text(400);
    const { raised } = work.follow(400);
    expect(raised).toBeInstanceOf(Promise);
    await raised;
    expect(await scene.held()).toBe(600_000n);
    expect(work.follow(400).raised).toBeUndefined();
    expect(givenUp).toEqual([]);
  });

  test("ends the call once nothing more can be held", async () => {
    const work = await open();
    await leave(10_000n);
    text(400);
    // First by all that is left.
    await work.follow(400).raised;
    expect(givenUp).toEqual([]);
    await work.follow(400).raised;
    expect(givenUp).toMatchObject([{ code: "insufficient_credits" }]);
    expect(await scene.held()).toBe(heldByOrder + 10_000n);
  });

  test("waits for a store that is down, and tries again a moment later", async () => {
    const work = await open();
    text(400);
    scene.store.failure = new Error("disk full");
    const { raised } = work.follow(400);
    let waited = false;
    void (async () => {
      await raised;
      waited = true;
    })();
    await scene.tick(tickMs / 2);
    expect(waited).toBe(false);
    scene.store.failure = undefined;
    await scene.tick(tickMs);
    expect(waited).toBe(true);
    await work.follow(400).raised;
    expect(givenUp).toEqual([]);
    expect(await scene.held()).toBe(600_000n);
  });

  test("waits for the next top-up, not for a renewal that took place after a failed one", async () => {
    const work = await open();
    await scene.tick(2_000);
    scene.now += 600;
    text(104);
    scene.store.failure = new Error("locked");
    // Nearly used up: the top-up fails, and is to be repeated a second later.
    expect(work.follow(104).raised).toBeUndefined();
    await scene.ledger.flush();
    scene.store.failure = undefined;
    // The cost has grown since the hold was taken, and is recorded: a renewal, within the pause of the top-up.
    await scene.tick(400);
    expect(kinds()).toContain("renew");
    text(200);
    const { raised } = work.follow(200);
    expect(await Promise.race([raised, aTurn().then(() => "waits")])).toBe("waits");
    await scene.tick(tickMs);
    await raised;
    await work.follow(200).raised;
    expect(work.follow(200).raised).toBeUndefined();
    expect(await scene.held()).toBe(400_000n);
  });

  test("never gets a promise that is settled, whatever the store does", async () => {
    const work = await open();
    const inner = scene.store.commit.bind(scene.store);
    let commits = 0;
    // Refused, lost after it was committed, late, and well, again and again.
    scene.store.commit = async (operations) => {
      commits += 1;
      if (commits % 4 === 0) throw new Error("refused");
      if (commits % 4 === 2) await aTurn();
      const outcomes = await inner(operations);
      if (commits % 4 === 1) throw new Error("lost");
      return outcomes;
    };
    let waits = 0;
    for (let bytes = 300; bytes < 1_600; bytes += 50) {
      text(bytes);
      for (let { raised } = work.follow(bytes); raised !== undefined; { raised } = work.follow(bytes)) {
        waits += 1;
        let hasWaited = false;
        void raised.then(() => (hasWaited = true));
        // Microtasks alone never settle it: a commit takes a turn.
        for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
        expect(hasWaited).toBe(false);
        await scene.tick(tickMs);
        await aTurn();
        await scene.tick(tickMs);
        await raised;
      }
    }
    expect(waits).toBeGreaterThan(2);
    expect(givenUp).toEqual([]);
    expect((await scene.held()) ?? 0n).toBeGreaterThanOrEqual(900_000n);
  });

  test("of work that has ended is not compared", async () => {
    const work = await open();
    text(400);
    await work.end({ status: 200, outcome: "complete", observed: { usage: { input: 100 } } });
    expect(work.follow(400)).toEqual({ untilBytes: Number.POSITIVE_INFINITY, raised: undefined });
  });
});
