/** Video jobs whose process dies. */
import { describe, expect, test } from "bun:test";
import { openLedgerStore } from "../../src/ledger/index.ts";
import { engines, query, until } from "../kit/index.ts";
import { nano, videoScene } from "./video-scene.ts";

describe.each(engines)("video jobs on %s", (engine) => {
  const scene = videoScene(engine);

  test("nobody asks: the background does, after `kill -9` too, and the job is charged once", async () => {
    const id = scene.newId("video_");
    scene.serve(id, () => Response.json({ id, status: "in_progress" }));
    await scene.send("POST", "/v1/videos", { body: { model: "openai/sora-2", prompt: "x" } });
    await scene.restart(async () => {
      scene.serve(id, () => Response.json({ id, status: "completed", seconds: "4", size: "720x1280" }));
      await query(scene.gateway.storage, "UPDATE jobs SET run_at = 1");
    });
    const second = await scene.startSecond();
    try {
      await until("the job has ended", async () => (await scene.books()).held === 0n, 15_000);
      expect(await scene.books()).toEqual({ spent: nano(0.4), held: 0n });
      expect((await scene.poll(id)).job).toMatchObject({ status: "completed" });
      expect(scene.upstream.requests.filter(({ path }) => path.endsWith(id))).toHaveLength(1);
      const { drifts, shortfall } = await openLedgerStore(scene.gateway.storage).audit();
      expect([drifts, shortfall]).toEqual([[], 0n]);
    } finally {
      await second.stop();
    }
  }, 40_000);

  test("a process that dies while the upstream creates the job releases, and the operator is told", async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    scene.upstream.answerWith(({ method }) => {
      if (method === "GET") return Response.json({ status: "queued" });
      resolve();
      return new Promise<Response>(() => undefined);
    });
    const lost = scene
      .send("POST", "/v1/videos", { body: { model: "openai/sora-2", prompt: "x" } })
      .catch(() => undefined);
    await asked;
    expect(await scene.books()).toEqual({ spent: 0n, held: nano(0.4) });
    await scene.restart(async () => {
      await lost;
      await query(scene.gateway.storage, "UPDATE jobs SET run_at = 1, lease_until = 1");
    });
    await until("the hold is released", async () => (await scene.books()).held === 0n, 15_000);
    expect(await scene.books()).toEqual({ spent: 0n, held: 0n });
    await until("the log says so", () => scene.gateway.log().includes("a video job was lost before its id was known"));
    expect(await query(scene.gateway.storage, `SELECT id FROM videos WHERE owner = '${scene.user}'`)).toEqual([]);
  }, 40_000);
});
