/** The permitted requests for video jobs, by caller. */
import { describe, expect, test } from "bun:test";
import { engines, query } from "../kit/index.ts";
import { json, nano, videoScene } from "./video-scene.ts";

describe.each(engines)("video jobs on %s", (engine) => {
  const scene = videoScene(engine);

  describe("another user", () => {
    test("gets 404 on every route, also to build on the job", async () => {
      const id = scene.newId("video_");
      scene.serve(id, () => Response.json({ id, status: "completed", seconds: "4", size: "720x1280" }));
      await scene.send("POST", "/v1/videos", { body: { model: "openai/sora-2", prompt: "x" } });
      const as = await scene.gateway.token({ user: `${scene.user}-other`, credits: nano(10) });
      const seen = scene.upstream.requests.length;
      const tries = await Promise.all([
        scene.send("GET", `/v1/videos/${id}`, { as }),
        scene.send("GET", `/v1/videos/${id}?provider=openai`, { as }),
        scene.send("GET", `/v1/videos/${id}/content`, { as }),
        scene.send("DELETE", `/v1/videos/${id}`, { as }),
        scene.send("POST", "/v1/videos/edits", { as, body: { prompt: "y", video: { id } } }),
        scene.send("POST", "/v1/videos/extensions", { as, body: { prompt: "y", video: { id }, seconds: "4" } }),
      ]);
      expect(tries.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
      expect(await json(await scene.send("GET", "/v1/videos", { as }))).toMatchObject({ data: [] });
      expect((await scene.send("GET", `/v1/videos?after=${id}`, { as })).status).toBe(422);
      expect(scene.upstream.requests).toHaveLength(seen);
      // A service caller sees all.
      const service = await scene.gateway.token({ user: "robot", service: true });
      expect((await scene.send("GET", `/v1/videos/${id}`, { as: service })).status).toBe(200);
    });
  });

  describe("an edit", () => {
    test("by the video's id needs no model, and uses the key that made the video", async () => {
      const id = scene.newId("video_");
      scene.serve(id, () => Response.json({ id, status: "completed", seconds: "12", size: "720x1280" }));
      await scene.send("POST", "/v1/videos", { body: { model: "openai/sora-2", prompt: "x", seconds: "12" } });
      await scene.poll(id);
      const edited = scene.newId("video_");
      scene.serve(edited, () => Response.json({ id: edited, status: "completed", seconds: "12", size: "720x1280" }));
      const form = new FormData();
      form.set("prompt", "more light");
      form.set("video[id]", id);
      const response = await scene.send("POST", "/v1/videos/edits", { body: form });
      expect(await json(response)).toMatchObject({ id: edited, model: "sora-2", remixed_from_video_id: id });
      expect(scene.upstream.requests[0]?.path).toBe("/openai/videos/edits");
      expect(scene.upstream.requests[0]?.body).toContain('name="video[id]"');
      expect(scene.upstream.requests[0]?.body).not.toContain('name="model"');
      await scene.poll(edited);
      expect(await scene.books()).toEqual({ spent: nano(2.4), held: 0n });
    });

    test("of an upload needs a model", async () => {
      const form = new FormData();
      form.set("prompt", "x");
      form.set("video", new File(["mp4"], "a.mp4"));
      const response = await scene.send("POST", "/v1/videos/edits", { body: form });
      expect([response.status, await json(response)]).toMatchObject([422, { error: { param: "model" } }]);
    });

    test("of an upload and of an earlier video at once is refused", async () => {
      const id = scene.newId("video_");
      scene.serve(id, () => Response.json({ id, status: "completed", seconds: "4", size: "720x1280" }));
      await scene.send("POST", "/v1/videos", { body: { model: "openai/sora-2", prompt: "x" } });
      await scene.poll(id);
      const before = await scene.books();
      scene.upstream.answerWith(() => Response.json({}));
      for (const name of ["video[id]", "video_id"]) {
        const form = new FormData();
        form.set("prompt", "x");
        form.set(name, id);
        form.set("video", new File(["mp4"], "a.mp4"));
        const response = await scene.send("POST", "/v1/videos/edits", { body: form });
        expect([response.status, await json(response)]).toMatchObject([422, { error: { param: "video" } }]);
      }
      expect(scene.upstream.requests).toHaveLength(0);
      expect(await scene.books()).toEqual(before);
    });

    test("is impossible at BytePlus: 404 says what there is", async () => {
      const body = { model: "byteplus/seedance-1-5-pro-251215", prompt: "x", video: { url: "https://a.test/a.mp4" } };
      const response = await scene.send("POST", "/v1/videos/edits", { body });
      expect(response.status).toBe(404);
      const { error } = (await json(response)) as { error: { code: string; message: string } };
      expect(error.code).toBe("unsupported_operation");
      expect(error.message).toContain("video_generation");
    });
  });

  test.each([
    ["byteplus/seedance-1-5-pro-251215", { callback_url: "https://a.test" }, "callback_url"],
    ["xai/grok-imagine-video", { output: { upload_url: "https://a.test" } }, "output.upload_url"],
    ["openai/sora-2", { seconds: "eight" }, "seconds"],
    ["xai/grok-imagine-video", { seconds: 0 }, "seconds"],
    ["xai/grok-imagine-video", { size: "huge" }, "size"],
    ["xai/grok-imagine-video", { size: "5000x100" }, "size"],
  ])("%s: %j is refused with 422, and nothing is held", async (model, rest, param) => {
    scene.upstream.answerWith(() => Response.json({}));
    const response = await scene.send("POST", "/v1/videos", { body: { model, prompt: "x", ...rest } });
    expect([response.status, await json(response)]).toMatchObject([422, { error: { param } }]);
    expect(scene.upstream.requests).toHaveLength(0);
    expect(await scene.books()).toEqual({ spent: 0n, held: 0n });
  });

  test.each([
    [{ content: [{ type: "draft_task", draft_task: { id: "cgt-other" } }] }],
    [{ content: [{ type: "image_url", image_url: { url: "asset://asset-1" } }] }],
  ])("BytePlus's: ids of others in %j are 404", async (rest) => {
    scene.upstream.answerWith(() => Response.json({}));
    const body = { model: "byteplus/seedance-1-5-pro-251215", prompt: "x", ...rest };
    expect((await scene.send("POST", "/v1/videos", { body })).status).toBe(404);
    expect(scene.upstream.requests).toHaveLength(0);
  });

  test("a model without a price for the unit that its provider bills is refused, naming the key", async () => {
    const body = { model: "byteplus/seedance-by-second", prompt: "x" };
    const response = await scene.send("POST", "/v1/videos", { body });
    expect(response.status).toBe(422);
    expect(await response.text()).toContain("output_video_mtok");
  });

  test("an upstream's refusal is relayed, and releases", async () => {
    scene.upstream.answerWith(() => Response.json({ error: { message: "blocked" } }, { status: 400 }));
    const response = await scene.send("POST", "/v1/videos", { body: { model: "openai/sora-2", prompt: "x" } });
    expect([response.status, await json(response)]).toEqual([400, { error: { message: "blocked" } }]);
    expect(await scene.books()).toEqual({ spent: 0n, held: 0n });
    expect(await query(scene.gateway.storage, `SELECT id FROM videos WHERE owner = '${scene.user}'`)).toEqual([]);
    expect(await query(scene.gateway.storage, `SELECT id FROM jobs WHERE owner = '${scene.user}'`)).toEqual([]);
  });

  test("an upstream that refuses the gateway's key is no fault of the caller's, and releases", async () => {
    const error = { message: "Incorrect API key", code: "invalid_api_key" };
    scene.upstream.answerWith(() => Response.json({ error }, { status: 401 }));
    const response = await scene.send("POST", "/v1/videos", { body: { model: "openai/sora-2", prompt: "x" } });
    expect([response.status, await json(response)]).toMatchObject([502, { error: { code: "provider_key_refused" } }]);
    expect(await scene.books()).toEqual({ spent: 0n, held: 0n });
    expect(await query(scene.gateway.storage, `SELECT id FROM jobs WHERE owner = '${scene.user}'`)).toEqual([]);
  });

  test.each([500, 502])("a creation that failed with %d is not sent again", async (status) => {
    scene.upstream.answerWith(() => new Response("no", { status }));
    const response = await scene.send("POST", "/v1/videos", { body: { model: "openai/sora-2", prompt: "x" } });
    expect([response.status, scene.upstream.requests.length]).toEqual([status, 1]);
    expect(await scene.books()).toEqual({ spent: 0n, held: 0n });
  });

  test.each([
    ["500 of its first attempt after 503", [503, 500], 500, 2],
    ["429, which comes before any work", [429, 200], 200, 2],
  ] as const)("a creation is sent again after %s", async (_title, statuses, status, sent) => {
    const id = scene.newId("video_");
    let attempts = 0;
    scene.upstream.answerWith(() => {
      const answered = statuses[attempts] ?? 200;
      attempts += 1;
      return Response.json({ id, status: "queued" }, { status: answered, headers: { "retry-after": "0" } });
    });
    const response = await scene.send("POST", "/v1/videos", { body: { model: "openai/sora-2", prompt: "x" } });
    expect([response.status, scene.upstream.requests.length]).toEqual([status, sent]);
  });

  test("a job that another already has the id of is no answer", async () => {
    const id = scene.newId("video_");
    scene.serve(id, () => Response.json({ id, status: "queued" }));
    await scene.send("POST", "/v1/videos", { body: { model: "openai/sora-2", prompt: "x" } });
    const as = await scene.gateway.token({ user: `${scene.user}-thief`, credits: nano(10) });
    const second = await scene.send("POST", "/v1/videos", { as, body: { model: "openai/sora-2", prompt: "x" } });
    expect(second.status).toBe(502);
    expect((await scene.send("GET", `/v1/videos/${id}`, { as })).status).toBe(404);
    expect((await scene.send("GET", `/v1/videos/${id}`)).status).toBe(200);
  });

  test("a retry key makes one job, whoever asks first; another body gets 409", async () => {
    const id = scene.newId("video_");
    scene.serve(id, () => Response.json({ id, status: "queued" }));
    const body = { model: "openai/sora-2", prompt: "x" };
    const headers = { "idempotency-key": `key-${scene.user}` };
    const all = await Promise.all(Array.from({ length: 8 }, () => scene.send("POST", "/v1/videos", { body, headers })));
    const texts = await Promise.all(all.map((each) => each.text()));
    const answered = all.flatMap(({ status }, index) => (status === 200 ? [texts[index]] : []));
    expect(new Set(answered).size).toBe(1);
    expect(all.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(scene.upstream.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
    const again = await scene.send("POST", "/v1/videos", { body, headers });
    expect([again.headers.get("idempotent-replayed"), await again.text()]).toEqual(["true", answered[0] ?? ""]);
    const firstId = all.find(({ status }) => status === 200)?.headers.get("x-request-id");
    expect(again.headers.get("x-tollgate-first-request-id")).toBe(firstId ?? "");
    const running = all.filter(({ status }) => status === 409);
    expect(running.every((each) => each.headers.get("retry-after") === "1")).toBe(true);
    expect((await scene.send("POST", "/v1/videos", { body: { ...body, prompt: "y" }, headers })).status).toBe(409);
    expect((await scene.books()).held).toBe(nano(0.4));
  });

  test("too little credit is 402, and nothing is sent", async () => {
    const as = await scene.gateway.token({ user: `${scene.user}-poor`, credits: nano(0.3) });
    scene.upstream.answerWith(() => Response.json({}));
    const response = await scene.send("POST", "/v1/videos", { as, body: { model: "openai/sora-2", prompt: "x" } });
    expect([response.status, scene.upstream.requests.length]).toEqual([402, 0]);
  });

  test("a list has the caller's own jobs, newest first, in pages", async () => {
    const made: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      const id = scene.newId("video_");
      scene.serve(id, () => Response.json({ id, status: "queued" }));
      await scene.send("POST", "/v1/videos", { body: { model: "openai/sora-2", prompt: "x" } });
      made.unshift(id);
    }
    const page = async (rest: string) => {
      const { data, has_more: more } = await json(await scene.send("GET", `/v1/videos${rest}`));
      return [(data as { id: string }[]).map((each) => each.id), more];
    };
    expect(await page("")).toEqual([made, false]);
    expect(await page("?limit=2")).toEqual([made.slice(0, 2), true]);
    expect(await page(`?limit=2&after=${made[1]}`)).toEqual([made.slice(2), false]);
    expect(await page("?order=asc")).toEqual([made.toReversed(), false]);
    expect(await page("?provider=xai")).toEqual([[], false]);
    expect((await scene.send("GET", "/v1/videos?provider=nobody")).status).toBe(422);
    expect((await scene.send("GET", `/v1/videos/${made[0]}?provider=xai`)).status).toBe(404);
    expect((await scene.send("GET", "/v1/videos?limit=0")).status).toBe(422);
  });

  test("content is streamed with ranges; xAI's is at its address", async () => {
    const id = scene.newId("video_");
    scene.upstream.answerWith(({ method, path, headers }) => {
      if (method === "POST") return Response.json({ id, status: "queued" });
      if (!path.endsWith("/content")) return Response.json({ id, status: "completed", seconds: "4" });
      const range = headers.get("range");
      return new Response(range === null ? "0123456789" : "234", {
        status: range === null ? 200 : 206,
        headers: { "content-type": "video/mp4", ...(range === null ? {} : { "content-range": "bytes 2-4/10" }) },
      });
    });
    await scene.send("POST", "/v1/videos", { body: { model: "openai/sora-2", prompt: "x" } });
    const whole = await scene.send("GET", `/v1/videos/${id}/content`);
    expect([whole.status, whole.headers.get("content-type"), await whole.text()]).toEqual([
      200,
      "video/mp4",
      "0123456789",
    ]);
    const part = await scene.send("GET", `/v1/videos/${id}/content`, { headers: { range: "bytes=2-4" } });
    expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([206, "bytes 2-4/10", "234"]);
    const other = scene.newId("x-");
    scene.serve(other, () => Response.json({ status: "pending" }));
    await scene.send("POST", "/v1/videos", { body: { model: "xai/grok-imagine-video", prompt: "x" } });
    const refused = await scene.send("GET", `/v1/videos/${other}/content`);
    expect(refused.status).toBe(404);
    expect(await refused.text()).toContain("output[].url");
    expect((await scene.send("DELETE", `/v1/videos/${other}`)).status).toBe(404);
  });

  test("callers who look up in a loop are answered from the record", async () => {
    const id = scene.newId("video_");
    scene.serve(id, () => Response.json({ id, status: "in_progress", progress: 10 }));
    await scene.send("POST", "/v1/videos", { body: { model: "openai/sora-2", prompt: "x" } });
    await scene.poll(id);
    const looks = await Promise.all(Array.from({ length: 20 }, () => scene.send("GET", `/v1/videos/${id}`)));
    expect(await Promise.all(looks.map(async (each) => (await json(each))["progress"]))).toEqual(looks.map(() => 10));
    expect(scene.upstream.requests.filter(({ method }) => method === "GET")).toHaveLength(1);
  });

  test("a deleted job is settled first, and gone", async () => {
    const id = scene.newId("video_");
    scene.serve(id, () => Response.json({ id, status: "completed", seconds: "4", size: "720x1280" }));
    await scene.send("POST", "/v1/videos", { body: { model: "openai/sora-2", prompt: "x" } });
    const response = await scene.send("DELETE", `/v1/videos/${id}`);
    expect(await json(response)).toEqual({ id, object: "video.deleted", deleted: true });
    expect(await scene.books()).toEqual({ spent: nano(0.4), held: 0n });
    expect((await scene.send("GET", `/v1/videos/${id}`)).status).toBe(404);
  });
});
