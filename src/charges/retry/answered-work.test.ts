import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { NO_MARKUP } from "../../core/index.ts";
import { webPrice } from "../../pricing/index.ts";
import { orderOf, refusalOf, tickMs, WorkScene } from "../__fixtures__/work-scene.ts";
import { Work } from "../work.ts";
import { forgetAnswer, openAnswered, storedFor } from "./answered-work.ts";

let scene: WorkScene;
beforeEach(async () => {
  scene = await WorkScene.start();
});
afterEach(() => scene.stop());

describe("work whose answer is known before", () => {
  const retry = { key: "k", fingerprint: "f" };
  const answer = { status: 200, headers: [["a", "b"]] satisfies [string, string][], body: Uint8Array.of(1) };
  const order = (id: string, fingerprint = "f") =>
    orderOf({
      id,
      retry: { ...retry, fingerprint },
      price: webPrice({}, NO_MARKUP),
      bound: { inputTokens: 0, outputTokens: 0, choices: 1 },
    });
  const until = 5_000_000;
  const start = (id: string, fingerprint?: string) =>
    openAnswered(scene.deps, order(id, fingerprint), { answer, until });
  const key = { accountId: order("").principal.accountId, retry };

  test("is answered again from its own commit on, before its end and after it", async () => {
    const [first, second] = await Promise.all([start("req_1"), start("req_2")]);
    expect(first).toBeInstanceOf(Work);
    expect(second).toEqual({ firstId: "req_1", answer });
    expect((await refusalOf(start("req_3", "g"))).code).toBe("idempotency_key_reused");
    expect(await storedFor(scene.deps, key)).toEqual({ firstId: "req_1", answer, isRunning: true });
    if (first instanceof Work) await first.discard();
    expect(await storedFor(scene.deps, key)).toEqual({ firstId: "req_1", answer, isRunning: false });
    scene.now = until;
    expect(await start("req_4")).toEqual({ firstId: "req_1", answer });
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
    expect(scene.ended).toEqual([]);
  });

  test("leaves its key when that is forgotten, or its time is over", async () => {
    await start("req_1");
    await forgetAnswer(scene.deps, key, "req_other");
    expect(await start("req_2")).toMatchObject({ firstId: "req_1" });
    await forgetAnswer(scene.deps, key, "req_1");
    expect(await start("req_3", "g")).toBeInstanceOf(Work);
    scene.now = until + 1;
    expect(await openAnswered(scene.deps, order("req_4"), { answer, until: until + 9 })).toBeInstanceOf(Work);
  });

  test("is answered nowhere if the store cannot commit, and if it did all the same its hold is released", async () => {
    scene.store.failure = new Error("away");
    expect((await refusalOf(start("req_1"))).code).toBe("storage_unavailable");
    scene.store.failure = undefined;
    await scene.tick(tickMs);
    scene.store.loses = true;
    expect((await refusalOf(start("req_2"))).code).toBe("storage_unavailable");
    scene.store.loses = false;
    await scene.tick(tickMs);
    expect(await start("req_3")).toEqual({ firstId: "req_2", answer });
    expect(await storedFor(scene.deps, key)).toMatchObject({ isRunning: false });
  });
});
