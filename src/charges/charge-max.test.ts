/** The caller's own limit of the cost of a piece of work: nothing that is held, passed on or charged exceeds it. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { GatewayError, type ObservedUsage } from "../core/index.ts";
import {
  failed,
  heldByOrder,
  orderOf,
  priceOf,
  refusalOf,
  settled,
  tickMs,
  WorkScene,
} from "./__fixtures__/work-scene.ts";
import { chargeMaxIn } from "./max-credits.ts";
import type { ParkedWork } from "./parked-work.ts";
import { resumeWork } from "./resume-work.ts";

let scene: WorkScene;
beforeEach(async () => {
  scene = await WorkScene.start();
});
afterEach(() => scene.stop());

/** 100 tokens of input cost 100,000. */
const output = { wanted: 1_000, least: 10, limits: "if-fewer" } as const;

describe("the header", () => {
  const read = (value: string): unknown => {
    try {
      return chargeMaxIn(new Headers({ "x-tollgate-max-credits": value }));
    } catch (thrown) {
      return thrown instanceof GatewayError ? [thrown.status, thrown.param] : thrown;
    }
  };

  test("is an amount of credits", () => {
    expect(chargeMaxIn(new Headers())).toBeUndefined();
    expect(["0", "1", "0.25", " 12.000000001 "].map(read)).toEqual([0n, 1_000_000_000n, 250_000_000n, 12_000_000_001n]);
  });

  test.each(["", "-1", "1e3", "0.0000000001", "one", "NaN", "1,5", "0x10", "1 2", "9".repeat(400)])(
    "%p is refused, or more than any call costs",
    (value) => {
      const known: unknown = read(value);
      if (typeof known === "bigint") expect(known).toBeGreaterThan(10n ** 30n);
      else expect(known).toEqual([422, "x-tollgate-max-credits"]);
    },
  );
});

describe("work that is begun", () => {
  test("for an answer as a whole is held and limited to what the limit pays for", async () => {
    const work = await scene.open({ output, chargeMax: 150_000n });
    expect([work.limits.outputTokens, await scene.held()]).toEqual([25, 150_000n]);
  });

  test("for a stream holds as usual, and its request is limited", async () => {
    const stream = { wanted: 50, least: 10, most: 4_000, limits: "never" } as const;
    const work = await scene.open({ output: stream, chargeMax: 900_000n });
    expect([work.limits.outputTokens, await scene.held()]).toEqual([400, heldByOrder]);
    const wide = await scene.open({ id: "req_2", output: { ...stream, most: 400 }, chargeMax: 900_000n });
    expect(wide.limits.outputTokens).toBeUndefined();
  });

  test("has fewer runs of hosted tools rather than too little output", async () => {
    const toolRuns = { most: 3, each: { toolUnits: { webSearches: 1 } } };
    const bound = { inputTokens: 100, outputTokens: undefined, choices: 1, toolRuns };
    // What a search brings in does not fit beside the input.
    const price = { ...priceOf("up"), contextWindow: 100 };
    const work = await scene.open({ bound, price, output: { ...output, wanted: 100, least: 50 }, chargeMax: 400_000n });
    expect([work.limits, await scene.held()]).toEqual([{ outputTokens: 50, toolRuns: 2 }, 400_000n]);
  });

  test.each([
    ["a text", { output }, "for its input and 10 tokens of output"],
    ["anything else", {}, "needs up to 0.0002"],
  ])("%s is refused if its least costs more, and nothing is held", async (_, more, part) => {
    const error = await refusalOf(scene.open({ ...more, chargeMax: 110_000n }));
    expect(error).toMatchObject({ code: "max_credits_exceeded", status: 402, param: "x-tollgate-max-credits" });
    expect(error.message).toContain(part);
    expect(error.message).toEndWith("and x-tollgate-max-credits allows 0.00011.");
    expect(scene.store.taken.map(({ kind }) => kind)).toEqual(["grant"]);
    expect(scene.refused).toEqual(["max_credits_exceeded"]);
  });

  test("counts the markup of its organisation", async () => {
    const principal = { ...orderOf().principal, markup: 2_000_000 };
    const work = await scene.open({ principal, output, chargeMax: 300_000n });
    expect([work.limits.outputTokens, await scene.held()]).toEqual([25, 300_000n]);
  });

  test("is refused for the credits that are left, if those are fewer", async () => {
    const error = await refusalOf(
      scene.open({ bound: { ...orderOf().bound, inputTokens: 2_000 }, chargeMax: 10n ** 12n }),
    );
    expect(error.code).toBe("insufficient_credits");
  });
});

describe("work that runs", () => {
  const stream = { wanted: 50, least: 10, most: 400, limits: "never" } as const;

  test("is topped up as far as the limit, and ends when it is used up", async () => {
    const work = await scene.open({ output: stream, chargeMax: 500_000n });
    const ended: GatewayError[] = [];
    let seen: ObservedUsage = { usage: { input: 100 } };
    work.meter(
      () => seen,
      (error) => ended.push(error),
    );
    const heldAfter = async (tokens: number): Promise<bigint | undefined> => {
      seen = { usage: { input: 100, output: tokens } };
      await scene.tick(tickMs);
      return scene.held();
    };
    expect(await heldAfter(40)).toBe(400_000n);
    expect(await heldAfter(150)).toBe(500_000n);
    const commits = scene.store.taken.length;
    expect(await heldAfter(199)).toBe(500_000n);
    // Nothing can be raised: the store is not asked.
    expect([ended, scene.store.taken.filter(({ kind }) => kind === "top-up").length]).toEqual([[], 2]);
    expect(scene.store.taken.length - commits).toBeLessThanOrEqual(1);
    expect(await heldAfter(200)).toBe(500_000n);
    expect(ended).toMatchObject([{ code: "max_credits_exceeded" }]);
    await work.end(settled(seen));
    expect(await scene.balances()).toEqual({ charged: 500_000n, held: 0n });
  });

  test("is never charged more, whatever its upstream counts", async () => {
    const work = await scene.open({ chargeMax: 250_000n });
    expect(work.costOf({ usage: { input: 1_000 } })).toBe(250_000n);
    await work.end(settled({ usage: { input: 1_000 } }));
    expect(await scene.balances()).toEqual({ charged: 250_000n, held: 0n });
    const dear = await scene.open({ id: "req_2", chargeMax: 250_000n });
    await dear.end(settled({ usage: { input: 1 }, reportedCost: 900_000n }));
    expect(await scene.balances()).toEqual({ charged: 500_000n, held: 0n });
  });

  test("covers nothing beyond it", async () => {
    const work = await scene.open({ chargeMax: 250_000n });
    await work.cover({ input: 250 });
    expect(await scene.held()).toBe(250_000n);
    expect(await refusalOf(work.cover({ input: 251 }))).toMatchObject({ code: "max_credits_exceeded" });
    await work.end(failed);
  });

  test("that is kept by a job has the limit on the node that ends it", async () => {
    const work = await scene.open({ chargeMax: 250_000n });
    let parked: ParkedWork | undefined;
    await work.park(scene.now + 10_000, (plain) => {
      parked = JSON.parse(JSON.stringify(plain)) as ParkedWork;
      return { id: "job", kind: "k", owner: "u", runAt: scene.now, createdAt: scene.now, payload: {} };
    });
    if (parked === undefined) throw new Error("not parked");
    await resumeWork(scene.deps, parked).end(settled({ usage: { input: 1_000 } }));
    expect(await scene.balances()).toEqual({ charged: 250_000n, held: 0n });
  });
});

describe("work that moves", () => {
  const source = { provider: "dear", model: "big", modelId: "dear/big" };

  test("keeps its limit and its session", async () => {
    const work = await scene.open({ session: "thread-1", chargeMax: 250_000n });
    const next = orderOf({ source, output });
    expect(await work.moveTo(next)).toBe("moved");
    expect([work.limits.outputTokens, await scene.held()]).toEqual([75, 250_000n]);
    await work.end(settled({ usage: { input: 9_000 } }));
    expect(scene.store.taken.at(-1)).toMatchObject({ amount: 250_000n, record: { session: "thread-1" } });
  });

  test("does not move to a target that is too dear, though the credits suffice", async () => {
    const work = await scene.open({ chargeMax: 250_000n });
    const dearer = orderOf({ source, price: priceOf("dear"), output: { ...output, least: 100 } });
    expect(await work.moveTo(dearer)).toBe("unaffordable");
    expect([work.order.source.provider, await scene.held()]).toEqual(["up", heldByOrder]);
    expect(scene.store.taken.map(({ kind }) => kind)).toEqual(["grant", "hold"]);
    await work.end(failed);
  });
});
