import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { translateStream, translations } from "../../dialects/index.ts";
import { chunk, startTime, stopTime, StreamScene, upstreamError } from "../__fixtures__/stream-scene.ts";

beforeEach(startTime);
afterEach(stopTime);

describe("a translated stream", () => {
  const open = () => {
    const upstreamContext = { origin: "up", callId: "c", model: "m", readUsage: () => undefined };
    const clientContext = { request: {}, callId: "c", created: 1, inputTokensEstimate: 1, requestId: "req_1" };
    const { chat, messages } = translations;
    return translateStream({
      upstream: chat,
      upstreamContext,
      client: messages,
      clientContext,
      charged: (told) => told?.usage ?? {},
    });
  };

  test.each(["", chunk("two").slice(0, 20)])("that is cut ends as one whose bytes pass: after %p", async (half) => {
    const scene = new StreamScene({ observer: open() });
    await scene.send(chunk("one") + half);
    await scene.end();
    expect(scene.got).toContain('"text":"one"');
    expect(scene.got.match(/^event: error$/gm)).toHaveLength(1);
    expect(scene.got).toContain("The upstream's stream broke off.");
    expect(scene.ends).toMatchObject([["interrupted", { code: "upstream_interrupted" }]]);
  });

  test("that the upstream ends with its own error has failed", async () => {
    const scene = new StreamScene({ observer: open() });
    await scene.send(chunk("one") + upstreamError("overloaded").trimEnd());
    await scene.end();
    expect(scene.got).toContain("overloaded");
    expect(scene.outcomes).toEqual(["failed"]);
  });
});
