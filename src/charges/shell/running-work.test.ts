import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ObservedUsage } from "../../core/index.ts";
import { heldByOrder, WorkScene } from "../__fixtures__/work-scene.ts";
import { StoredBody } from "../retry/stored-answer.ts";
import { runningOn } from "./__fixtures__/running-on.ts";
import type { RunningWork, WorkResult } from "./running-work.ts";

let scene: WorkScene;
let ends: number;
beforeEach(async () => {
  scene = await WorkScene.start();
  ends = 0;
});
afterEach(() => scene.stop());

const observed: ObservedUsage = { usage: { input: 10, output: 5 } };
const cost = 20_000n;
const retry = { key: "k", fingerprint: "f" };

async function start(): Promise<RunningWork> {
  return runningOn(scene, await scene.open({ retry }), () => {
    ends += 1;
  });
}

const complete = (): WorkResult => ({
  status: 200,
  outcome: "complete",
  observed,
  answer: { headers: { "content-type": "text/x" }, body: new StoredBody().add(Buffer.from("said")) },
});

const last = () => scene.store.taken.at(-1);

describe("the end of a call", () => {
  test("ends its work, stores its answer, and calls back", async () => {
    const call = await start();
    await call.end(complete());
    expect(last()).toMatchObject({
      kind: "settle",
      amount: cost,
      answer: { status: 200, headers: [["content-type", "text/x"]], body: Buffer.from("said") },
    });
    expect(ends).toBe(1);
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test("counts once: the first", async () => {
    const call = await start();
    await Promise.all([
      call.end({ status: 200, outcome: "abandoned", observed }),
      call.end(complete()),
      call.end({ status: 500, outcome: "interrupted" }),
    ]);
    expect(scene.store.taken.map(({ kind }) => kind)).toEqual(["grant", "hold", "settle"]);
    expect(ends).toBe(1);
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test("calls back before it is durable, and resolves when it is", async () => {
    const call = await start();
    const ending = call.end(complete());
    expect(ends).toBe(1);
    expect(await scene.balances()).toEqual({ charged: 0n, held: heldByOrder });
    await ending;
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test.each<WorkResult["outcome"]>(["abandoned", "interrupted", "failed"])(
    "that is %s keeps no answer: what its client got was not whole",
    async (outcome) => {
      const call = await start();
      await call.end({ ...complete(), outcome });
      expect(last()).toMatchObject({ kind: "settle", amount: cost });
      expect(last()).not.toHaveProperty("answer");
      // The key is free again.
      await scene.open({ id: "req_2", retry });
    },
  );
});
