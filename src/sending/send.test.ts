import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { GatewayError } from "../core/index.ts";
import { BadReply, collectBody } from "../upstream/index.ts";
import { type Behaviour, down, fails, firstKey, ok, refusalOf, SendScene, silent } from "./__fixtures__/send-scene.ts";
import { failureOf } from "../../test/kit/failure-of.ts";

let scene: SendScene;
beforeEach(() => {
  scene = new SendScene();
});
afterEach(() => scene.stop());

describe("one attempt", () => {
  test("is sent to the operation's URL with the key, and follows no redirection", async () => {
    const answer = await scene.send({ behaviours: [ok] });
    expect(answer).toMatchObject({ kind: "stream", status: 200 });
    const [call] = scene.fetched;
    expect(call).toMatchObject({
      url: "https://upstream.example/v1/chat/completions",
      init: { method: "POST", body: `{"model":"m"}`, redirect: "manual" },
      key: firstKey,
    });
    expect(new Headers(call?.init.headers).get("x-client-request-id")).toBe("abc");
  });

  test("leaves a success unread, for the relay", async () => {
    const answer = await scene.send({ behaviours: [ok] });
    if (answer.kind !== "stream") throw new Error("no success");
    expect(await collectBody(answer.body, 100)).toEqual({ bytes: Buffer.from(`{"id":"chatcmpl-1"}`) });
  });

  test.each([[400], [402], [403], [404], [409], [413], [422], [429], [503], [504], [529]])(
    "that fails with %d and without a delay is the last",
    async (status) => {
      expect(await scene.send({ behaviours: [fails(status)] })).toMatchObject({
        kind: "failed",
        status,
        body: `{"error":{"message":"no"}}`,
      });
      expect(scene.fetched).toHaveLength(1);
    },
  );

  test("that is redirected is the last: the key is sent nowhere else", async () => {
    const redirected = scene.send({ behaviours: [fails(302, { location: "https://elsewhere.example/" })] });
    expect(await failureOf(redirected)).toMatchObject({ code: "upstream_invalid_answer" });
    expect(scene.fetched).toHaveLength(1);
  });

  test("without a key is an internal error", async () => {
    scene.keys = scene.keyPool();
    const reason: unknown = await scene.send({ behaviours: [ok] }).catch((thrown: unknown) => thrown);
    expect(reason).toEqual(new Error("provider up is routed without a key"));
    expect(scene.fetched).toEqual([]);
  });
});

describe("further attempts", () => {
  test("follow a failed connection, after delays that double", async () => {
    const sent = scene.send({ behaviours: [down, down, ok] });
    await scene.turns();
    expect(scene.fetched).toHaveLength(1);
    await scene.advance(124);
    expect(scene.fetched).toHaveLength(1);
    await scene.advance(1);
    expect(scene.fetched).toHaveLength(2);
    await scene.advance(249);
    expect(scene.fetched).toHaveLength(2);
    await scene.advance(1);
    expect(await sent).toMatchObject({ kind: "stream" });
    expect(scene.fetched).toHaveLength(3);
  });

  test("have random delays, at most doubled, and never beyond the cap", async () => {
    const waits = async (fraction: number): Promise<number[]> => {
      scene.fetched = [];
      const sent = refusalOf(scene.send({ behaviours: [down], options: { retries: 7 }, fraction }));
      const measured: number[] = [];
      await scene.turns();
      for (let attempt = 1; attempt <= 7; attempt += 1) {
        const before = scene.now;
        while (scene.fetched.length === attempt) await scene.advance(25);
        measured.push(scene.now - before);
      }
      await sent;
      return measured;
    };
    expect(await waits(0)).toEqual([125, 250, 500, 1_000, 2_000, 2_000, 2_000]);
    expect(await waits(0.999_999)).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000, 4_000]);
  });

  test("are not made after an invalid answer", async () => {
    const bad: Behaviour = () => Promise.reject(new BadReply("its head broke off"));
    const refusal = await refusalOf(scene.send({ behaviours: [bad, ok] }));
    expect(refusal).toMatchObject({ code: "upstream_invalid_answer" });
    expect(scene.fetched).toHaveLength(1);
  });

  test("end with upstream_unreachable if no connection succeeded", async () => {
    const sent = refusalOf(scene.send({ behaviours: [down] }));
    await scene.turns();
    await scene.advance(125);
    await scene.advance(250);
    expect(await sent).toMatchObject({
      code: "upstream_unreachable",
      status: 502,
      cause: new TypeError("connection refused"),
    });
    expect(scene.fetched).toHaveLength(3);
  });

  test.each([[500], [502]])("follow a %d, and its last body is relayed", async (status) => {
    const sent = scene.send({
      behaviours: [fails(status, {}, "first"), fails(status, {}, "second"), fails(status, {}, "third")],
    });
    await scene.turns();
    await scene.advance(125);
    await scene.advance(250);
    expect(await sent).toMatchObject({ kind: "failed", status, body: "third" });
    expect(scene.fetched).toHaveLength(3);
  });

  test.each([[429], [503], [529], [498]])("follow a %d after the delay that it contains", async (status) => {
    const sent = scene.send({ behaviours: [fails(status, { "retry-after": "3" }), ok] });
    await scene.turns();
    await scene.advance(2_999);
    expect(scene.fetched).toHaveLength(1);
    await scene.advance(1);
    expect(await sent).toMatchObject({ kind: "stream" });
  });

  test("do not follow a delay over the bound: the client may wait instead", async () => {
    const behaviours = [fails(429, { "retry-after-ms": "10001" })];
    const answer = await scene.send({ behaviours });
    expect(answer.kind === "stream" ? undefined : answer.headers.get("retry-after-ms")).toBe("10001");
    expect(scene.fetched).toHaveLength(1);
  });

  test("follow a delay of exactly the bound", async () => {
    const sent = scene.send({ behaviours: [fails(429, { "retry-after-ms": "10000" }), ok] });
    await scene.turns();
    await scene.advance(10_000);
    expect(await sent).toMatchObject({ kind: "stream" });
  });

  test("are as many as configured, none included", async () => {
    expect(await scene.send({ behaviours: [fails(500)], options: { retries: 0 } })).toMatchObject({
      kind: "failed",
      status: 500,
    });
    expect(scene.fetched).toHaveLength(1);
    scene.fetched = [];
    expect((await refusalOf(scene.send({ behaviours: [down], options: { retries: 0 } }))).code).toBe(
      "upstream_unreachable",
    );
    expect(scene.fetched).toHaveLength(1);
  });

  test("send the same body again", async () => {
    const sent = scene.send({ behaviours: [down, ok] });
    await scene.turns();
    await scene.advance(125);
    await sent;
    expect(scene.fetched.map(({ init }) => init.body)).toEqual([`{"model":"m"}`, `{"model":"m"}`]);
  });
});

describe("a request that was written and got no answer", () => {
  test("is repeated if it is for text, and each attempt says its price", async () => {
    const sent = scene.send({ behaviours: [down, fails(500), ok] });
    await scene.until(1_000);
    expect(await sent).toMatchObject({ kind: "stream" });
    expect(scene.attempts.map(({ failure, unbilled }) => [failure, unbilled])).toEqual([
      ["unreachable", "0.5"],
      ["broken", undefined],
      [undefined, undefined],
    ]);
    // The first one stays sent, the second one was refused.
    expect(scene.sent).toEqual([true, true, false, true]);
  });

  test.each(["unless-done", "unless-accepted"] as const)("is not repeated %s", async (repeats) => {
    const refusal = await refusalOf(scene.send({ behaviours: [down, ok], repeats }));
    expect(refusal.code).toBe("upstream_unreachable");
    expect(scene.attempts).toMatchObject([{ failure: "unreachable", retryInMs: undefined, unbilled: "0.5" }]);
    expect(scene.sent).toEqual([true]);
  });

  test("is repeated unless accepted after 503, and not after 500", async () => {
    const again = scene.send({ behaviours: [fails(503, { "retry-after": "1" }), ok], repeats: "unless-accepted" });
    await scene.until(2_000);
    expect(await again).toMatchObject({ kind: "stream" });
    scene.fetched = [];
    expect(await scene.send({ behaviours: [fails(500), ok], repeats: "unless-accepted" })).toMatchObject({
      status: 500,
    });
    expect(scene.fetched).toHaveLength(1);
  });

  test("costs nobody anything if the client has left: it pays for that", async () => {
    const sent = refusalOf(scene.send({ behaviours: [silent] }));
    await scene.turns();
    scene.abort.abort(new GatewayError("upstream_interrupted", "The client went away."));
    await sent;
    expect(scene.attempts).toMatchObject([{ failure: "abandoned", unbilled: undefined }]);
  });
});

describe("the first byte", () => {
  test("that does not arrive in time ends the call, without another attempt", async () => {
    const sent = refusalOf(scene.send({ behaviours: [silent] }));
    await scene.turns();
    await scene.advance(59_000);
    expect(scene.settled).toBe(false);
    await scene.advance(1_000);
    expect(await sent).toMatchObject({ code: "upstream_timeout", status: 502 });
    expect(scene.fetched).toHaveLength(1);
    expect(scene.fetched[0]?.init.signal?.aborted).toBe(true);
  });

  test("leaves no timer behind", async () => {
    await scene.send({ behaviours: [ok] });
    await scene.advance(120_000);
    expect(scene.abort.signal.aborted).toBe(false);
  });

  test("has a new time-out in each attempt", async () => {
    const late: Behaviour = async () => {
      await new Promise<void>((resolve) => setTimeout(resolve, 50_000));
      return new Response("", { status: 500 });
    };
    const sent = scene.send({ behaviours: [late, late, ok] });
    await scene.turns();
    await scene.until(100_500);
    expect(await sent).toMatchObject({ kind: "stream" });
  });
});

describe("a call that is ended from outside", () => {
  const gone = new GatewayError("upstream_interrupted", "The client went away.");

  test("while it waits for an answer throws the reason", async () => {
    const sent = refusalOf(scene.send({ behaviours: [silent] }));
    await scene.turns();
    scene.abort.abort(gone);
    expect(await sent).toBe(gone);
    expect(scene.fetched).toHaveLength(1);
  });

  test("while it waits for the next attempt makes none", async () => {
    const sent = refusalOf(scene.send({ behaviours: [fails(429, { "retry-after": "5" }), ok] }));
    await scene.turns();
    scene.abort.abort(gone);
    expect(await sent).toBe(gone);
    await scene.advance(60_000);
    expect(scene.fetched).toHaveLength(1);
  });

  test("before a delay begins makes none either", async () => {
    const failing: Behaviour = () => {
      scene.abort.abort(gone);
      return new Response("", { status: 500 });
    };
    expect(await refusalOf(scene.send({ behaviours: [failing, ok] }))).toBe(gone);
    expect(scene.fetched).toHaveLength(1);
  });
});

describe("the body of an error", () => {
  test("that stalls is awaited no longer than the idle time-out", async () => {
    const stalling: Behaviour = ({ signal }) =>
      new Response(
        new ReadableStream<Uint8Array>({
          start(controller) {
            controller.enqueue(Buffer.from("half"));
            signal?.addEventListener("abort", () => controller.error(signal.reason));
          },
        }),
        { status: 400 },
      );
    const sent = scene.send({ behaviours: [stalling] });
    await scene.turns();
    await scene.advance(29_000);
    expect(scene.settled).toBe(false);
    await scene.advance(1_000);
    expect(await sent).toMatchObject({ kind: "failed", status: 400, body: "" });
  });

  test("that breaks off is omitted: the status is known", async () => {
    const breaking: Behaviour = () => {
      const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error("reset")) });
      return new Response(body, { status: 400 });
    };
    expect(await scene.send({ behaviours: [breaking] })).toMatchObject({ kind: "failed", status: 400, body: "" });
  });

  test("over the bound is omitted", async () => {
    const huge = fails(400, {}, "x".repeat(256 * 1024 + 1));
    expect(await scene.send({ behaviours: [huge] })).toMatchObject({ kind: "failed", status: 400, body: "" });
  });

  test("may be missing", async () => {
    const empty: Behaviour = () => new Response(null, { status: 404 });
    expect(await scene.send({ behaviours: [empty] })).toMatchObject({ kind: "failed", status: 404, body: "" });
  });
});
