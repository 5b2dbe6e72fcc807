/** The life of each provider's video jobs, from the hold to the charge. */
import { describe, expect, test } from "bun:test";
import { engines, query } from "../kit/index.ts";
import { json, nano, videoScene } from "./video-scene.ts";

describe.each(engines)("video jobs on %s", (engine) => {
  const scene = videoScene(engine);

  test("OpenAI's: created, polled, completed, charged once", async () => {
    const id = scene.newId("video_");
    scene.serve(id, () => Response.json({ id, object: "video", status: "in_progress", progress: 40, model: "sora-2" }));
    const body = { model: "openai/sora-2", prompt: "a cat", seconds: "8", size: "1280x720", webhook_url: undefined };
    const response = await scene.send("POST", "/v1/videos", { body });
    expect([response.status, response.headers.get("x-tollgate-credits-held")]).toEqual([200, "0.8"]);
    expect(await json(response)).toMatchObject({
      id,
      object: "video",
      status: "queued",
      model: "sora-2",
      progress: 0,
      seconds: "8",
      size: "1280x720",
      error: null,
      completed_at: null,
      remixed_from_video_id: null,
    });
    expect(scene.upstream.requests.map(({ method, path, key }) => `${method} ${path} ${key}`)).toEqual([
      "POST /openai/videos key-openai",
    ]);
    expect(JSON.parse(scene.upstream.requests[0]?.body ?? "")).toEqual({
      model: "sora-2",
      prompt: "a cat",
      seconds: "8",
      size: "1280x720",
    });
    expect(await scene.books()).toEqual({ spent: 0n, held: nano(0.8) });

    expect(await scene.poll(id)).toMatchObject({
      status: 200,
      job: { status: "in_progress", progress: 40 },
    });
    scene.serve(id, () =>
      Response.json({ id, object: "video", status: "completed", seconds: "8", size: "1280x720", expires_at: 99 }),
    );
    const done = await scene.poll(id);
    expect(done.job).toMatchObject({ status: "completed", progress: 100, expires_at: 99, model: "sora-2" });
    expect(done.job["output"]).toEqual([{ type: "video", url: `${scene.gateway.url}/v1/videos/${id}/content` }]);
    expect(done.headers.get("x-tollgate-credits")).toBe("0.8");
    expect(await scene.books()).toEqual({ spent: nano(0.8), held: 0n });

    const generation = await json(
      await scene.send("GET", `/v1/generations/${done.headers.get("x-tollgate-generation-id")}`),
    );
    expect(generation).toMatchObject({ operation: "video_generation", outcome: "complete", credits: 0.8 });
    expect(generation["usage"]).toMatchObject({ output_video_ms: 8_000 });
    const again = await scene.poll(id);
    expect(again.job).toEqual(done.job);
    expect(scene.upstream.requests).toHaveLength(1);
    expect(await query(scene.gateway.storage, `SELECT id FROM jobs WHERE owner = '${scene.user}'`)).toEqual([]);
  });

  test("xAI's: OpenAI's fields become its own, 202 with an empty body waits, its own price wins", async () => {
    const id = scene.newId("4f3a-");
    scene.serve(id, () => new Response("", { status: 202 }));
    const body = {
      model: "xai/grok-imagine-video",
      prompt: "a cat",
      seconds: 10,
      size: "1280x720",
      input_reference: { image_url: "https://a.test/cat.png" },
    };
    const response = await scene.send("POST", "/v1/videos/generations", { body });
    expect(response.headers.get("x-tollgate-credits-held")).toBe("0.71");
    expect(await json(response)).toMatchObject({ id, status: "queued", model: "grok-imagine-video", seconds: "10" });
    expect(scene.upstream.requests[0]?.path).toBe("/xai/videos/generations");
    expect(JSON.parse(scene.upstream.requests[0]?.body ?? "")).toEqual({
      model: "grok-imagine-video",
      prompt: "a cat",
      duration: 10,
      aspect_ratio: "16:9",
      resolution: "720p",
      image: { url: "https://a.test/cat.png" },
    });
    expect((await scene.poll(id)).job).toMatchObject({ status: "in_progress" });
    const url = "https://vidgen.test/a.mp4";
    scene.serve(id, () =>
      Response.json({
        status: "done",
        video: { url, duration: 10, respect_moderation: true },
        usage: { cost_in_usd_ticks: 5_000_000_000 },
      }),
    );
    const { job } = await scene.poll(id);
    expect(job).toMatchObject({ status: "completed", output: [{ type: "video", url }], seconds: "10" });
    expect(typeof job["expires_at"]).toBe("number");
    expect(await scene.books()).toEqual({ spent: nano(0.5), held: 0n });
  });

  test("xAI's: a failed job that has a cost is charged that, one without is free", async () => {
    for (const [ticks, spent] of [
      [1_000_000_000, nano(0.1)],
      [undefined, nano(0.1)],
    ] as const) {
      const id = scene.newId("4f3a-");
      const usage = ticks === undefined ? {} : { usage: { cost_in_usd_ticks: ticks } };
      scene.serve(id, () =>
        Response.json({ status: "failed", error: { code: "invalid_argument", message: "no" }, ...usage }),
      );
      await scene.send("POST", "/v1/videos", { body: { model: "xai/grok-imagine-video", prompt: "x" } });
      expect((await scene.poll(id)).job).toMatchObject({
        status: "failed",
        error: { code: "invalid_argument", message: "no" },
      });
      expect(await scene.books()).toEqual({ spent, held: 0n });
    }
  });

  test("BytePlus's: the prompt becomes content, and parameters in the text are held", async () => {
    const id = scene.newId("cgt-");
    scene.serve(id, () => Response.json({ id, status: "queued" }));
    const create = (rest: object) =>
      scene.send("POST", "/v1/videos", {
        body: { model: "byteplus/seedance-1-5-pro-251215", prompt: "a cat", ...rest },
      });
    const plain = await create({ seconds: "5", size: "1280x720" });
    expect(JSON.parse(scene.upstream.requests[0]?.body ?? "")).toEqual({
      model: "seedance-1-5-pro-251215",
      resolution: "720p",
      ratio: "16:9",
      duration: 5,
      content: [{ type: "text", text: "a cat" }],
    });
    const held = async (response: Response): Promise<number> => {
      await response.text();
      return Number(response.headers.get("x-tollgate-credits-held"));
    };
    const base = await held(plain);
    scene.serve(scene.newId("cgt-"), () => Response.json({ status: "queued" }));
    const longer = await held(await create({ prompt: "a cat --dur 10" }));
    expect(longer / base).toBeCloseTo(2, 1);
    scene.serve(scene.newId("cgt-"), () => Response.json({ status: "queued" }));
    expect((await held(await create({ service_tier: "flex" }))) / base).toBeCloseTo(0.5, 1);
    scene.serve(id, () =>
      Response.json({
        id,
        status: "succeeded",
        content: { video_url: "https://tos.test/a.mp4" },
        usage: { completion_tokens: 100_000, total_tokens: 100_000 },
        updated_at: 1_000,
      }),
    );
    expect((await scene.poll(id)).job).toMatchObject({
      status: "completed",
      output: [{ type: "video", url: "https://tos.test/a.mp4" }],
      expires_at: 1_000 + 86_400,
    });
    expect((await scene.books()).spent).toBe(nano(0.7));
  });

  test.each([
    ["expired", "expired"],
    ["cancelled", "cancelled"],
  ])("BytePlus's: %s is failed, with a code that says so, and free", async (status, code) => {
    const id = scene.newId("cgt-");
    scene.serve(id, () => Response.json({ id, status, error: null }));
    await scene.send("POST", "/v1/videos", { body: { model: "byteplus/seedance-1-5-pro-251215", prompt: "x" } });
    expect((await scene.poll(id)).job).toMatchObject({ status: "failed", error: { code } });
    expect(await scene.books()).toEqual({ spent: 0n, held: 0n });
  });
});
