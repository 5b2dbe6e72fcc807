/** Video jobs in the shape of their provider's own API, under its prefix: the same jobs, holds and prices as at `/v1/videos`. */
import { describe, expect, test } from "bun:test";
import { createXai } from "@ai-sdk/xai";
import { experimental_generateVideo as generateVideo } from "ai";
import { engines, query } from "../kit/index.ts";
import { type Json, json, nano, videoScene } from "./video-scene.ts";

const tasks = "/v1/byteplus/contents/generations/tasks";

describe.each(engines)("on %s", (engine) => {
  const scene = videoScene(engine);
  const look = async (path: string): Promise<Response> => {
    await query(scene.gateway.storage, "UPDATE videos SET polled_at = 1");
    return scene.send("GET", path);
  };
  const lastBody = (): Json => {
    const created = scene.upstream.requests.findLast(({ method }) => method === "POST");
    return JSON.parse(created?.body ?? "{}") as Json;
  };

  describe("BytePlus's tasks", () => {
    const body = { content: [{ type: "text", text: "a fox --dur 5" }], own_field: { a: 1 }, return_last_frame: true };

    test("are created, polled and listed with unknown fields, and found at /v1/videos with one hold and one charge", async () => {
      const id = scene.newId("cgt-");
      let job: Json = { id, model: "m", status: "running", created_at: 5, new_member: [1] };
      scene.serve(id, () => Response.json(job));
      const created = await scene.send("POST", tasks, { body: { ...body, model: "seedance-2" } });
      expect(created.status).toBe(200);
      expect(await json(created)).toMatchObject({ id });
      expect(lastBody()).toMatchObject({ ...body, model: "seedance-2" });
      const { held } = await scene.books();
      expect(held).toBeGreaterThan(0n);
      expect(created.headers.get("x-tollgate-credits-held")).not.toBe("0");
      expect(await json(await look(`${tasks}/${id}`))).toEqual(job);
      expect((await scene.poll(id)).job).toMatchObject({ status: "in_progress", object: "video" });
      job = {
        ...job,
        status: "succeeded",
        content: { video_url: "https://b.test/v.mp4" },
        usage: { completion_tokens: 1_000 },
      };
      expect(await json(await look(`${tasks}/${id}`))).toEqual(job);
      expect(await scene.books()).toEqual({ spent: nano(0.007), held: 0n });
      expect((await scene.poll(id)).job).toMatchObject({ status: "completed" });
      expect(await json(await scene.send("GET", tasks))).toEqual({ total: 1, items: [job] });
    });

    test("take the model with its prefix, and no other provider's", async () => {
      const id = scene.newId("cgt-");
      scene.serve(id, () => Response.json({ id, status: "running" }));
      const own = await scene.send("POST", tasks, { body: { ...body, model: "byteplus/seedance-2" } });
      expect([own.status, lastBody()["model"]]).toEqual([200, "seedance-2"]);
      const before = await scene.books();
      const other = await scene.send("POST", tasks, { body: { ...body, model: "xai/grok-imagine-video" } });
      expect([other.status, await json(other)]).toMatchObject([422, { error: { param: "model" } }]);
      expect((await scene.send("POST", tasks, { body })).status).toBe(422);
      expect(await scene.books()).toEqual(before);
    });

    test("are pages of the caller's own, by number, status and ids", async () => {
      const ids = ["a", "b", "c"].map((name) => scene.newId(`cgt-${name}`));
      for (const id of ids) {
        scene.serve(id, () => Response.json({ id, status: "running" }));
        await scene.send("POST", tasks, { body: { ...body, model: "seedance-2" } });
      }
      const [first = "", second = "", third = ""] = ids;
      scene.upstream.answerWith(({ path }) => Response.json({ id: path.split("/").at(-1), status: "running" }));
      const list = async (search: string): Promise<unknown[]> => {
        const { total, items } = (await json(await look(`${tasks}${search}`))) as { total: number; items: Json[] };
        return [total, ...items.map(({ id }) => id)];
      };
      expect(await list("?page_size=2")).toEqual([3, third, second]);
      expect(await list("?page_size=2&page_num=2")).toEqual([3, first]);
      expect(await list(`?filter.task_ids=${first}&filter.task_ids=${second}`)).toEqual([2, second, first]);
      expect(await list("?filter.status=running")).toEqual([3, third, second, first]);
      expect(await list("?filter.status=failed")).toEqual([0]);
      expect((await scene.send("GET", `${tasks}?page_num=0`)).status).toBe(422);
    });

    test("are found by their ids behind the newest 500", async () => {
      const id = scene.newId("cgt-");
      scene.serve(id, () => Response.json({ id, status: "succeeded" }));
      await scene.send("POST", tasks, { body: { ...body, model: "seedance-2" } });
      await look(`${tasks}/${id}`);
      const others = ["provider", "owner", "account_id", "model", "operation", "requested", "state", "answer"].join();
      await query(
        scene.gateway.storage,
        `WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 500)
          INSERT INTO videos (id, video_id, created_at, polled_at, kept_until, ${others})
          SELECT id || '-' || i, video_id || '-' || i, created_at + i, polled_at, kept_until, ${others}
          FROM videos, numbers WHERE video_id = '${id}'`,
      );
      const list = async (search: string): Promise<Json> => json(await scene.send("GET", `${tasks}${search}`));
      expect(await list("?page_size=500&page_num=2")).toEqual({ total: 500, items: [] });
      const unknown = encodeURIComponent("cgt-\0");
      expect(await list(`?filter.task_ids=${id}&filter.task_ids=${unknown}`)).toMatchObject({
        total: 1,
        items: [{ id }],
      });
      expect(await list(`?filter.task_ids=${unknown}`)).toEqual({ total: 0, items: [] });
      const many = await scene.send("GET", `${tasks}?${"filter.task_ids=a&".repeat(501)}`);
      expect([many.status, await json(many)]).toMatchObject([422, { error: { param: "filter.task_ids" } }]);
    });

    test("are deleted while they wait, which frees their hold", async () => {
      const id = scene.newId("cgt-");
      scene.serve(id, () => Response.json({ id, status: "queued" }));
      await scene.send("POST", tasks, { body: { ...body, model: "seedance-2" } });
      const removed = await scene.send("DELETE", `${tasks}/${id}`);
      expect([removed.status, await json(removed)]).toEqual([200, {}]);
      expect(await scene.books()).toEqual({ spent: 0n, held: 0n });
      expect((await scene.send("GET", `${tasks}/${id}`)).status).toBe(404);
    });

    test("of another user, of another provider, and of one without such an API are 404", async () => {
      const id = scene.newId("cgt-");
      scene.serve(id, () => Response.json({ id, status: "succeeded" }));
      await scene.send("POST", tasks, { body: { ...body, model: "seedance-2" } });
      const as = await scene.gateway.token({ user: `${scene.user}-other`, credits: nano(10) });
      const seen = scene.upstream.requests.length;
      const tries = await Promise.all([
        scene.send("GET", `${tasks}/${id}`, { as }),
        scene.send("DELETE", `${tasks}/${id}`, { as }),
        scene.send("GET", `${tasks}/${id}`.replace("byteplus", "xai")),
        scene.send("GET", `${tasks}/${id}`.replace("byteplus", "nobody")),
        scene.send("POST", tasks.replace("byteplus", "openai"), { body: { ...body, model: "sora-2" } }),
        scene.send("GET", `/v1/xai/videos/${id}`),
      ]);
      expect(tries.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
      expect(await json(await scene.send("GET", tasks, { as }))).toEqual({ total: 0, items: [] });
      expect((await scene.send("GET", tasks, { as: "" })).status).toBe(401);
      expect(scene.upstream.requests).toHaveLength(seen);
    });

    test("repeat their first answer for a retry key, in its shape alone", async () => {
      const id = scene.newId("cgt-");
      scene.serve(id, () => Response.json({ id, status: "running" }));
      const sent = { body: { ...body, model: "byteplus/seedance-2" }, headers: { "idempotency-key": id } };
      const first = await json(await scene.send("POST", tasks, sent));
      const held = await scene.books();
      expect(await json(await scene.send("POST", tasks, sent))).toEqual(first);
      expect(await scene.books()).toEqual(held);
      expect((await scene.send("POST", "/v1/videos", sent)).status).toBe(409);
    });
  });

  describe("xAI's videos", () => {
    const videos = "/v1/xai/videos";

    test("are those of the AI SDK, which waits for the end and finds the same job at /v1/videos", async () => {
      const id = scene.newId("x-");
      let looks = 0;
      scene.serve(id, () => {
        looks += 1;
        if (looks < 2) return new Response("", { status: 202 });
        return Response.json({
          status: "done",
          model: "grok-imagine-video",
          video: { url: "https://x.test/v.mp4", duration: 4 },
        });
      });
      const xai = createXai({
        baseURL: `${scene.gateway.url}/v1/xai`,
        apiKey: await scene.gateway.token({ user: scene.user }),
      });
      const { videos: made } = await generateVideo({
        model: xai.video("grok-imagine-video"),
        prompt: "a fox",
        duration: 4,
        resolution: "1280x720",
        providerOptions: { xai: { pollIntervalMs: 100, pollTimeoutMs: 60_000 } },
        download: async () => ({ data: new Uint8Array([1]), mediaType: "video/mp4" }),
      });
      expect(made).toHaveLength(1);
      expect(lastBody()).toMatchObject({ model: "grok-imagine-video", duration: 4 });
      expect((await scene.poll(id)).job).toMatchObject({ object: "video", status: "completed", seconds: "4" });
      expect((await scene.books()).held).toBe(0n);
      expect((await scene.books()).spent).toBeGreaterThan(0n);
    });

    test("have its status, its 202 while they wait, and its errors", async () => {
      const id = scene.newId("x-");
      scene.serve(id, () => new Response("", { status: 202 }));
      const sent = { body: { model: "grok-imagine-video", prompt: "x", duration: 4, own_field: 7 } };
      const created = await scene.send("POST", `${videos}/generations`, sent);
      expect([created.status, await json(created)]).toEqual([200, { request_id: id }]);
      expect(lastBody()).toMatchObject({ own_field: 7 });
      const waiting = await look(`${videos}/${id}`);
      expect([waiting.status, await json(waiting)]).toEqual([202, { status: "pending" }]);
      const failure = { status: "failed", error: { code: "invalid_argument", message: "no" }, progress: 0 };
      scene.serve(id, () => Response.json(failure));
      const failed = await look(`${videos}/${id}`);
      expect([failed.status, await json(failed)]).toEqual([200, failure]);
      expect(await scene.books()).toEqual({ spent: 0n, held: 0n });
    });

    test("are not OpenAI's or another provider's jobs, nor changed by theirs", async () => {
      const id = scene.newId("video_");
      scene.serve(id, () => Response.json({ id, status: "completed", seconds: "4", size: "720x1280" }));
      await scene.send("POST", "/v1/openai/videos", { body: { model: "sora-2", prompt: "x" } });
      await scene.poll(id);
      expect(await json(await scene.send("GET", `/v1/openai/videos/${id}`))).toMatchObject({ id, object: "video" });
      expect((await scene.send("GET", `${videos}/${id}`)).status).toBe(404);
      const edit = { body: { prompt: "y", video: { id } } };
      expect((await scene.send("POST", `${videos}/edits`, edit)).status).toBe(422);
      expect((await json(await scene.send("GET", videos)))["data"]).toEqual([]);
    });
  });
});
