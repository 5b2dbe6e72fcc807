/** Video jobs whose route has several targets: when another one follows, and what it costs then. */
import { afterAll, describe, expect, test } from "bun:test";
import { json, nano, videoScene } from "./video-scene.ts";

/** Closes each connection after a request, with the beginning of an answer or without any. */
const cutting = Bun.listen({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    data(socket, bytes) {
      const head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{";
      socket.end(bytes.toString().includes("/begun/") ? head : "");
    },
  },
});
afterAll(() => cutting.stop(true));

const at = (base_url: string): object => ({ kind: "openai", base_url, api_key: "unused" });

const before = (model: string): object => ({ tiers: [[{ model }], [{ model: "xai/grok-imagine-video" }]] });
const clip = before("openai/sora-2");

describe("video jobs with several targets", () => {
  const scene = videoScene("SQLite", {
    providers: {
      // Nobody listens there.
      down: at("http://127.0.0.1:9/v1"),
      cut: at(`http://127.0.0.1:${cutting.port}/v1`),
      "cut-begun": at(`http://127.0.0.1:${cutting.port}/begun/v1`),
    },
    config: {
      upstream: { retries: 2, first_byte_timeout: "1s" },
      routing: {
        circuits: false,
        routes: {
          clip,
          dead: before("down/sora-2"),
          cut: before("cut/sora-2"),
          begun: before("cut-begun/sora-2"),
          cheap: { ...clip, price_of: "openai/sora-2" },
        },
      },
    },
  });
  const hosts = (): string[] => scene.upstream.requests.map(({ path }) => path.split("/")[1] ?? "");
  const create = (model: string, rest: object = {}, headers = {}): Promise<Response> =>
    scene.send("POST", "/v1/videos", {
      body: { model, prompt: "x", seconds: "4", size: "1280x720", ...rest },
      headers,
    });

  /** OpenAI answers so, and xAI creates this job. */
  function serve(id: string, first: () => Response | Promise<Response>): void {
    scene.upstream.answerWith(({ method, path }) => {
      if (path.startsWith("/openai")) return first();
      if (method === "GET")
        return Response.json({ status: "done", video: { url: "https://x.test/v.mp4", duration: 4 } });
      return Response.json({ request_id: id }, { headers: { "x-request-id": `up-${id}` } });
    });
  }

  test.each([429, 503])("move after %d: hold, record, headers and charge are the next target's", async (status) => {
    const id = scene.newId("x-");
    serve(id, () => new Response("busy", { status }));
    const response = await create("clip");
    expect([response.status, hosts()]).toEqual([200, ["openai", "xai"]]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "x-tollgate-provider": "xai",
      "x-tollgate-model": "xai/grok-imagine-video",
      "x-tollgate-attempts": "2",
      "x-upstream-request-id": `up-${id}`,
    });
    expect(await json(response)).toMatchObject({ id, model: "grok-imagine-video", status: "queued" });
    expect(await scene.books()).toEqual({ spent: 0n, held: nano(0.28) });
    expect((await scene.poll(id)).job).toMatchObject({ status: "completed", seconds: "4" });
    expect(await scene.books()).toEqual({ spent: nano(0.28), held: 0n });
    const generation = `/v1/generations/${response.headers.get("x-request-id")}`;
    expect(await json(await scene.send("GET", generation))).toMatchObject({
      provider: "xai",
      model: "xai/grok-imagine-video",
      route: "clip",
      upstream_request_id: `up-${id}`,
      attempts: [
        { number: 1, provider: "openai", status, class: status === 429 ? "rate_limited" : "overloaded" },
        { number: 2, provider: "xai", status: 200 },
      ],
    });
  });

  test("move after a connection that failed before the request was written", async () => {
    const id = scene.newId("x-");
    serve(id, () => new Response("no", { status: 500 }));
    const response = await create("dead");
    expect([response.status, response.headers.get("x-tollgate-attempts"), hosts()]).toEqual([200, "2", ["xai"]]);
  });

  test.each<[string, number, () => Response | Promise<Response>]>([
    ["400", 400, () => new Response("no", { status: 400 })],
    ["500", 500, () => new Response("no", { status: 500 })],
    ["502", 502, () => new Response("no", { status: 502 })],
    ["504", 504, () => new Response("no", { status: 504 })],
    ["a bad answer", 502, () => new Response("{")],
    ["an answer without an id", 502, () => Response.json({ status: "queued" })],
    ["a redirection", 502, () => new Response(null, { status: 307, headers: { location: "/elsewhere" } })],
    ["silence", 502, () => new Promise<Response>(() => undefined)],
  ])("never move after %s", async (_, status, first) => {
    serve(scene.newId("x-"), first);
    const response = await create("clip");
    await response.text();
    expect([response.status, hosts(), response.headers.get("x-tollgate-provider")]).toEqual([
      status,
      ["openai"],
      "openai",
    ]);
    expect(await scene.books()).toEqual({ spent: 0n, held: 0n });
  });

  test.each(["cut", "begun"])("never move after a connection that broke: %s", async (route) => {
    serve(scene.newId("x-"), () => new Response("no", { status: 500 }));
    const response = await create(route);
    expect([response.status, hosts()]).toEqual([502, []]);
    expect(await scene.books()).toEqual({ spent: 0n, held: 0n });
  });

  test("the error is the last one of a provider, with all classes, and nothing remains", async () => {
    scene.upstream.answerWith(({ path }) =>
      path.startsWith("/openai") ? new Response("busy", { status: 503 }) : new Response("slow down", { status: 429 }),
    );
    const response = await create("clip");
    expect([response.status, await response.text(), hosts()]).toEqual([429, "slow down", ["openai", "xai"]]);
    expect(response.headers.get("x-tollgate-failures")).toBe("overloaded, rate_limited");
    expect(await scene.books()).toEqual({ spent: 0n, held: 0n });
  });

  test("a caller's own targets, a limit of the charge, and a token's list are kept", async () => {
    const id = scene.newId("x-");
    serve(id, () => new Response("busy", { status: 503 }));
    const fallback = { "x-tollgate-fallback": "xai/grok-imagine-video" };
    expect((await create("openai/sora-2", {}, fallback)).status).toBe(200);
    expect(hosts()).toEqual(["openai", "xai"]);
    serve(scene.newId("x-"), () => new Response("busy", { status: 503 }));
    expect((await create("clip", {}, { "x-tollgate-fallback": "none" })).status).toBe(503);
    expect(hosts()).toEqual(["openai"]);
    serve(scene.newId("x-"), () => new Response("busy", { status: 503 }));
    // xAI's would cost 0.28.
    expect(
      (await create("openai/sora-2", { size: "720x1280" }, { ...fallback, "x-tollgate-max-credits": "0.2" })).status,
    ).toBe(402);
    expect((await create("clip", {}, { "x-tollgate-max-credits": "0.1" })).status).toBe(402);
    expect(hosts()).toEqual([]);
    const as = await scene.gateway.token({ user: `${scene.user}-listed`, credits: nano(10), models: ["openai/*"] });
    const body = { model: "clip", prompt: "x", seconds: "4" };
    expect((await scene.send("POST", "/v1/videos", { as, body })).status).toBe(503);
    expect(hosts()).toEqual(["openai"]);
  });

  test("a retry key has the answer of the target that gave it", async () => {
    const id = scene.newId("x-");
    serve(id, () => new Response("busy", { status: 503 }));
    const headers = { "idempotency-key": `key-${id}` };
    const first = await create("clip", {}, headers);
    const again = await create("clip", {}, headers);
    expect([again.status, await again.text()]).toEqual([200, await first.text()]);
    expect([again.headers.get("idempotent-replayed"), again.headers.get("x-tollgate-model")]).toEqual([
      "true",
      "xai/grok-imagine-video",
    ]);
    expect(hosts()).toEqual(["openai", "xai"]);
    expect(await scene.books()).toEqual({ spent: 0n, held: nano(0.28) });
  });

  test("an edit of an own video goes to the provider that has it alone", async () => {
    const id = scene.newId("x-");
    serve(id, () => new Response("busy", { status: 503 }));
    await create("clip");
    await scene.poll(id);
    const edited = scene.newId("x-");
    serve(edited, () => new Response("no", { status: 500 }));
    const body = { model: "clip", prompt: "more light", video: { id } };
    const response = await scene.send("POST", "/v1/videos/edits", { body });
    expect([response.status, hosts()]).toEqual([200, ["xai"]]);
  });

  test("`price_of` fixes the price, wherever the job is made", async () => {
    const id = scene.newId("x-");
    serve(id, () => new Response("busy", { status: 503 }));
    expect((await create("cheap")).status).toBe(200);
    expect(hosts()).toEqual(["openai", "xai"]);
    expect(await scene.books()).toEqual({ spent: 0n, held: nano(0.4) });
  });
});
