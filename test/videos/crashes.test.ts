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
      await second?.stop();
    }
  });

  test("a retry key whose process died before its answer was kept is answered by the job's next look, once", async () => {
    const id = scene.newId("video_");
    const body = { model: "openai/sora-2", prompt: "x" };
    const headers = { "idempotency-key": "key-of-a-crash" };
    const create = (): Promise<Response> => scene.send("POST", "/v1/videos", { body, headers });
    scene.serve(id, () => Response.json({ id, status: "in_progress", progress: 50 }));
    const first = await (await create()).text();
    const { storage } = scene.gateway;
    await scene.restart(async () => {
      // As if it had died after the record got its id: the answer is kept nowhere, and nobody has looked at the job.
      await query(
        storage,
        "UPDATE retry_keys SET status = NULL, headers = NULL, body = NULL WHERE key = 'key-of-a-crash'",
      );
      await query(storage, "UPDATE jobs SET run_at = 1, payload = replace(payload, ',\"isAnswered\":true', '')");
    });
    const later = async (): Promise<boolean> => {
      const again = await create();
      if (again.status === 409) return again.headers.get("retry-after") === null;
      expect([again.headers.get("idempotent-replayed"), await again.text()]).toEqual(["true", first]);
      return true;
    };
    await until("the key is answered", later, 15_000);
    expect(scene.upstream.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
    expect(await scene.books()).toEqual({ spent: 0n, held: nano(0.4) });
    scene.serve(id, () => Response.json({ id, status: "failed", error: { code: "x", message: "y" } }));
    await until("the video has failed", async () => (await scene.poll(id)).job["status"] === "failed");
    // The creation succeeded, whatever became of the video.
    expect(await (await create()).text()).toBe(first);
    expect(await scene.books()).toEqual({ spent: 0n, held: 0n });
  });

  test("a retry key is free again after a process that died while the upstream created its job", async () => {
    const id = scene.newId("video_");
    const body = { model: "openai/sora-2", prompt: "x" };
    const headers = { "idempotency-key": "key-of-a-lost-job" };
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    scene.upstream.answerWith(() => {
      resolve();
      return new Promise<Response>(() => undefined);
    });
    const lost = scene.send("POST", "/v1/videos", { body, headers }).catch(() => undefined);
    await asked;
    // Both stand there, or neither.
    const rows =
      "SELECT j.id FROM jobs j JOIN holds h ON h.id = j.id WHERE h.keeper = 'job' AND h.retry_key = 'key-of-a-lost-job'";
    expect(await query(scene.gateway.storage, rows)).toHaveLength(1);
    expect((await scene.send("POST", "/v1/videos", { body, headers })).status).toBe(409);
    const second = await scene.startSecond();
    try {
      await scene.restart(async () => {
        await lost;
        await query(scene.gateway.storage, "UPDATE jobs SET run_at = 1, lease_until = 1");
      });
      scene.serve(id, () => Response.json({ id, status: "queued" }));
      await until("the hold is released", async () => (await scene.books()).held === 0n, 15_000);
      const again = await scene.send("POST", "/v1/videos", { body, headers });
      expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, null]);
      expect(await scene.books()).toEqual({ spent: 0n, held: nano(0.4) });
    } finally {
      await second?.stop();
    }
  });

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
    const records = `SELECT id FROM videos WHERE owner = '${scene.user}'`;
    await until("the record is gone", async () => (await query(scene.gateway.storage, records)).length === 0);
  });

  test("a process that dies while its second target creates the job releases what it has moved there, once", async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    scene.upstream.answerWith(({ method, path }) => {
      if (method === "GET") return Response.json({ status: "queued" });
      if (path.startsWith("/openai")) return new Response("busy", { status: 503 });
      resolve();
      return new Promise<Response>(() => undefined);
    });
    const body = { model: "openai/sora-2", prompt: "x", seconds: "4", size: "1280x720" };
    const headers = { "x-tollgate-fallback": "xai/grok-imagine-video" };
    const lost = scene.send("POST", "/v1/videos", { body, headers }).catch(() => undefined);
    await asked;
    const { storage } = scene.gateway;
    expect(await scene.books()).toEqual({ spent: 0n, held: nano(0.28) });
    const moved = `SELECT h.provider AS held, v.provider AS made, j.payload FROM holds h JOIN videos v ON v.id = h.id
      JOIN jobs j ON j.id = h.id WHERE v.owner = '${scene.user}'`;
    const [row] = await query<{ held: string; made: string; payload: string }>(storage, moved);
    expect([row?.held, row?.made, JSON.parse(row?.payload ?? "{}")]).toMatchObject([
      "xai",
      "xai",
      { parked: { held: "280000000", source: { provider: "xai" }, asked: { attempts: [{ class: "overloaded" }] } } },
    ]);
    await scene.restart(async () => {
      await lost;
      await query(storage, "UPDATE jobs SET run_at = 1, lease_until = 1");
    });
    await until("the hold is released", async () => (await scene.books()).held === 0n, 15_000);
    expect(await scene.books()).toEqual({ spent: 0n, held: 0n });
    const { drifts, shortfall } = await openLedgerStore(scene.gateway.storage).audit();
    expect([drifts, shortfall]).toEqual([[], 0n]);
  });
});
