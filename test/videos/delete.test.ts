/** A deletion that the upstream confirms ends the job in the same request, whatever state it was seen in. */
import { describe, expect, test } from "bun:test";
import { openLedgerStore } from "../../src/ledger/index.ts";
import { engines, query } from "../kit/index.ts";
import { WebhookReceiver } from "../../src/webhooks/__fixtures__/receiver.ts";
import { json, nano, videoScene } from "./video-scene.ts";

/** What each provider answers about a job in each state, and the price of a job that has begun. */
const kinds = [
  {
    model: "openai/sora-2",
    prefix: "video_",
    held: 0.4,
    cost: 0.4,
    states: {
      queued: { status: "queued" },
      running: { status: "in_progress", progress: 10 },
      completed: { status: "completed", seconds: "4", size: "720x1280" },
      failed: { status: "failed", error: { code: "x", message: "y" } },
    },
  },
  {
    model: "byteplus/seedance-1-5-pro-251215",
    prefix: "cgt-",
    held: 0.795704,
    cost: 0.7,
    states: {
      queued: { status: "queued" },
      running: { status: "running" },
      completed: {
        status: "succeeded",
        content: { video_url: "https://tos.test/a.mp4" },
        usage: { completion_tokens: 100_000, total_tokens: 100_000 },
      },
      failed: { status: "failed", error: { code: "x", message: "y" } },
    },
  },
] as const;

describe.each(engines)("a deletion on %s", (engine) => {
  const scene = videoScene(engine);

  /** The caller's webhooks that have not been delivered. */
  const webhooksOf = () =>
    query(scene.gateway.storage, `SELECT id FROM jobs WHERE kind LIKE '%webhook%' AND owner = '${scene.user}'`);

  describe.each(kinds)("of a job of $model", ({ model, prefix, held, cost, states }) => {
    test.each([
      ["queued", 0, "abandoned"],
      ["running", held, "abandoned"],
      ["completed", cost, "complete"],
      ["failed", 0, "failed"],
    ] as const)("that is %s costs %d, and nothing is left of it", async (state, credits, outcome) => {
      const id = scene.newId(prefix);
      scene.serve(id, () => Response.json({ id, ...states[state] }));
      await scene.gateway.cli("webhooks", "secret", "--user", scene.user, "--json");
      using receiver = new WebhookReceiver(() => new Response());
      const body = { model, prompt: "x", webhook_url: receiver.url };
      const created = await scene.send("POST", "/v1/videos", { body });
      expect([created.status, created.headers.get("x-tollgate-credits-held")]).toEqual([200, String(held)]);
      const deleted = await scene.send("DELETE", `/v1/videos/${id}`);
      expect([deleted.status, deleted.headers.get("x-tollgate-credits"), await json(deleted)]).toEqual([
        200,
        String(credits),
        { id, object: "video.deleted", deleted: true },
      ]);
      expect(await scene.books()).toEqual({ spent: nano(credits), held: 0n });
      const work = deleted.headers.get("x-tollgate-generation-id");
      expect(await json(await scene.send("GET", `/v1/generations/${work}`))).toMatchObject({ outcome, credits });
      // From now on there is no such job, whatever the upstream still says of it.
      const seen = scene.upstream.requests.length;
      for (const [method, path] of [
        ["GET", `/v1/videos/${id}`],
        ["GET", `/v1/videos/${id}/content`],
        ["DELETE", `/v1/videos/${id}`],
      ] as const) {
        expect([method, path, (await scene.send(method, path)).status]).toEqual([method, path, 404]);
      }
      const list = await json(await scene.send("GET", `/v1/videos?provider=${model.split("/")[0]}`));
      expect(list["data"]).toEqual([]);
      expect(scene.upstream.requests).toHaveLength(seen);
      const { storage } = scene.gateway;
      expect(await query(storage, `SELECT id FROM jobs WHERE id = '${work}'`)).toEqual([]);
      // The end of a job sends its webhook; a deletion before the end sends none.
      if (outcome === "abandoned") expect(await webhooksOf()).toEqual([]);
      else await receiver.until(1);
      const { drifts, shortfall } = await openLedgerStore(storage).audit();
      expect([drifts, shortfall]).toEqual([[], 0n]);
    });
  });

  test("that the upstream refuses is relayed, and the job goes on", async () => {
    const id = scene.newId("cgt-");
    scene.upstream.answerWith(({ method }) => {
      if (method === "DELETE")
        return Response.json({ error: { code: "InvalidAction.RunningTaskDeletion" } }, { status: 409 });
      return Response.json({ id, status: "running" });
    });
    await scene.send("POST", "/v1/videos", { body: { model: "byteplus/seedance-1-5-pro-251215", prompt: "x" } });
    const refused = await scene.send("DELETE", `/v1/videos/${id}`);
    expect([refused.status, await json(refused)]).toEqual([
      409,
      { error: { code: "InvalidAction.RunningTaskDeletion" } },
    ]);
    expect((await scene.poll(id)).job).toMatchObject({ status: "in_progress" });
    expect((await scene.books()).held).toBeGreaterThan(0n);
  });

  test("keeps the retry key of the creation: a request that is repeated late makes no second video", async () => {
    const id = scene.newId("video_");
    scene.serve(id, () => Response.json({ id, status: "queued" }));
    const creation = { body: { model: "openai/sora-2", prompt: "x" }, headers: { "idempotency-key": id } };
    const created = await scene.send("POST", "/v1/videos", creation);
    expect((await scene.send("DELETE", `/v1/videos/${id}`)).status).toBe(200);
    const seen = scene.upstream.requests.length;
    const repeated = await scene.send("POST", "/v1/videos", creation);
    expect([repeated.status, repeated.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(await json(repeated)).toEqual(await json(created));
    expect(scene.upstream.requests).toHaveLength(seen);
    expect(await scene.books()).toEqual({ spent: 0n, held: 0n });
  });

  test("whose own answer was lost is confirmed by the 404 that follows it", async () => {
    const id = scene.newId("video_");
    let deletions = 0;
    scene.upstream.answerWith(({ method }) => {
      if (method !== "DELETE") return Response.json({ id, status: "queued" });
      deletions += 1;
      if (deletions > 1) return Response.json({ error: { message: "no" } }, { status: 404 });
      return new Response("lost", { status: 502 });
    });
    await scene.send("POST", "/v1/videos", { body: { model: "openai/sora-2", prompt: "x" } });
    const deleted = await scene.send("DELETE", `/v1/videos/${id}`);
    expect([deleted.status, deleted.headers.get("x-tollgate-credits"), deletions]).toEqual([200, "0", 2]);
    expect(await scene.books()).toEqual({ spent: 0n, held: 0n });
  });

  test("at the same time as others, and as a look, ends the job once", async () => {
    const id = scene.newId("video_");
    scene.serve(id, () => Response.json({ id, status: "in_progress" }));
    await scene.send("POST", "/v1/videos", { body: { model: "openai/sora-2", prompt: "x" } });
    const asked = await Promise.all([
      scene.send("DELETE", `/v1/videos/${id}`),
      scene.send("DELETE", `/v1/videos/${id}`),
      scene.poll(id),
      scene.send("DELETE", `/v1/videos/${id}`),
    ]);
    const statuses = asked.filter((each) => each instanceof Response).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 404, 404]);
    expect(await scene.books()).toEqual({ spent: nano(0.4), held: 0n });
  });
});
