/** Streams of calls with a retry key: they continue without their client, and their bytes are stored. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { GatewayError } from "../../core/index.ts";
import {
  chunk,
  done,
  finish,
  idleMsMax,
  startTime,
  stopTime,
  StreamScene,
  tick,
  tickMs,
  turns,
  upstreamError,
  usage,
  whole,
} from "../__fixtures__/stream-scene.ts";

beforeEach(startTime);
afterEach(stopTime);

const kept = (scene: StreamScene): string => Buffer.from(scene.kept?.bytes() ?? "").toString("utf8");

/** The ways in which a client may disconnect from a stream before its first byte. */
const departures: [string, () => Promise<StreamScene>][] = [
  ["before it is answered", () => Promise.resolve(new StreamScene({ kept: true, gone: true, reads: false }))],
  [
    "while nothing is read",
    async () => {
      const scene = new StreamScene({ kept: true, reads: false });
      await scene.leave();
      return scene;
    },
  ],
  [
    "while a read is under way",
    async () => {
      const scene = new StreamScene({ kept: true });
      await turns();
      await scene.leave();
      return scene;
    },
  ],
];

test("a client that stays gets every byte, and the same bytes are stored", async () => {
  const scene = new StreamScene({ kept: true });
  await scene.send(chunk("é"), chunk("🙂").slice(0, 7), chunk("🙂").slice(7), finish, usage, done);
  expect(scene.got).toBe(whole);
  expect(kept(scene)).toBe(whole);
  expect(scene.outcomes).toEqual(["complete"]);
});

test("a comment that keeps the connection alive is not stored", async () => {
  const scene = new StreamScene({ kept: true });
  await scene.send(chunk("é"));
  await tick(60_000);
  await scene.send(chunk("🙂"), finish, done);
  expect(scene.got).toContain(": keep-alive\n\n");
  expect(kept(scene)).toBe(whole);
});

describe.each(departures)("a client that disconnects %s", (_title, depart) => {
  test("leaves a stream that is read to its end, complete", async () => {
    const scene = await depart();
    await scene.send(chunk("é"), chunk("🙂"));
    expect(scene.ends).toEqual([]);
    expect(scene.abort.signal.aborted).toBe(false);
    await scene.send(finish, usage, done);
    expect(scene.outcomes).toEqual(["complete"]);
    expect(kept(scene)).toBe(whole);
    expect(scene.observer.usage?.usage).toMatchObject({ input: 7, output: 11 });
    await scene.end();
    await tick(10 * idleMsMax);
    expect(scene.outcomes).toEqual(["complete"]);
    expect(scene.abort.signal.aborted).toBe(false);
  });

  test("leaves one that ends without a last event, complete if it is whole", async () => {
    const scene = await depart();
    await scene.send(chunk("é"), finish.trimEnd());
    await scene.end();
    expect(scene.outcomes).toEqual(["complete"]);
    expect(kept(scene)).toBe(chunk("é") + finish.trimEnd());
  });

  test("leaves one that breaks off, interrupted", async () => {
    const scene = await depart();
    const reset = new Error("connection reset");
    await scene.send(chunk("é"));
    await scene.fail(reset);
    expect(scene.ends).toMatchObject([["interrupted", { code: "upstream_interrupted", cause: reset }]]);
  });

  test("leaves one that ends early, interrupted", async () => {
    const scene = await depart();
    await scene.send(chunk("é"));
    await scene.end();
    expect(scene.ends).toMatchObject([["interrupted", { code: "upstream_interrupted" }]]);
  });

  test("leaves one that fails with the upstream's own error, failed", async () => {
    const scene = await depart();
    await scene.send(chunk("é"), upstreamError("overloaded"));
    await scene.end();
    expect(scene.outcomes).toEqual(["failed"]);
  });

  test("leaves one that stalls, interrupted in time, and the upstream's call ended", async () => {
    const scene = await depart();
    await scene.send(chunk("é"));
    await tick(idleMsMax);
    expect(scene.ends).toEqual([]);
    await tick(1);
    expect(scene.ends).toMatchObject([["interrupted", { code: "upstream_timeout" }]]);
    expect(scene.abort.signal.aborted).toBe(true);
  });

  test("leaves one that is ended for another reason, interrupted for that", async () => {
    const scene = await depart();
    await scene.send(chunk("é"));
    scene.abort.abort(new GatewayError("insufficient_credits", "used up"));
    await turns();
    expect(scene.ends).toMatchObject([["interrupted", { code: "insufficient_credits" }]]);
  });
});

describe("a client that disconnects in the middle", () => {
  test("after some events, with more available: nothing is lost or doubled", async () => {
    const scene = new StreamScene({ kept: true, reads: false });
    await scene.send(chunk("one"));
    await scene.read();
    await scene.send(chunk("two"), chunk("three").slice(0, 5));
    await scene.leave();
    await scene.send(chunk("three").slice(5), finish, done);
    expect(kept(scene)).toBe(chunk("one") + chunk("two") + chunk("three") + finish + done);
    expect(scene.outcomes).toEqual(["complete"]);
  });

  test("while the end is being committed changes nothing, and the upstream's connection is freed", async () => {
    const scene = new StreamScene({ kept: true });
    const { promise, resolve } = Promise.withResolvers<void>();
    scene.commit = promise;
    await scene.send(whole);
    expect(scene.outcomes).toEqual(["complete"]);
    await scene.leave();
    resolve();
    await turns();
    await tick(tickMs);
    expect(scene.outcomes).toEqual(["complete"]);
    expect(scene.abort.signal.aborted).toBe(true);
    expect(kept(scene)).toBe(whole);
  });

  test("after the end changes nothing", async () => {
    const scene = new StreamScene({ kept: true });
    await scene.send(whole);
    await scene.leave();
    expect(scene.outcomes).toEqual(["complete"]);
    expect(kept(scene)).toBe(whole);
  });
});
