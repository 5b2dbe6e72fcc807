import { afterEach, beforeEach, expect, test } from "bun:test";
import { limits } from "../../core/index.ts";
import { idleMsMax, startTime, stopTime, StreamScene, tick, turns } from "../__fixtures__/stream-scene.ts";

beforeEach(startTime);
afterEach(stopTime);

const noise = Buffer.from(Array.from({ length: 3_000 }, (_, index) => (index * 7) % 256));

test("bytes pass as they arrive, also those that look like events", async () => {
  const scene = new StreamScene({ bytes: true });
  await scene.send(noise);
  expect(Buffer.from(scene.text, "latin1")).toEqual(noise);
  await scene.send("data: [DONE]\n\n", "and more");
  await scene.end();
  expect(scene.text).toEndWith("data: [DONE]\n\nand more");
  expect([scene.closed, scene.firstBytes, scene.observer.outputBytes]).toEqual([true, 1, 3_022]);
  expect(scene.outcomes).toEqual(["complete"]);
});

test("they are complete for the client only once the charge is durable", async () => {
  const scene = new StreamScene({ bytes: true });
  const commit = Promise.withResolvers<void>();
  scene.commit = commit.promise;
  await scene.send(noise);
  await scene.end();
  expect([scene.text.length, scene.closed]).toEqual([noise.length, false]);
  commit.resolve();
  await turns();
  expect(scene.closed).toBe(true);
});

test("half a file ends with a broken connection, without further bytes", async () => {
  const scene = new StreamScene({ bytes: true });
  await scene.send(noise);
  await scene.fail(new Error("ECONNRESET"));
  expect(scene.broken).toMatchObject({ code: "upstream_interrupted" });
  expect([scene.text.length, scene.closed]).toEqual([noise.length, false]);
  expect(scene.outcomes).toEqual(["interrupted"]);
});

test("silence is not filled, and ends the call if it lasts", async () => {
  const scene = new StreamScene({ bytes: true });
  await scene.send(noise);
  await tick(limits.keepAliveMs);
  expect(scene.text).toHaveLength(noise.length);
  await tick(idleMsMax);
  expect(scene.broken).toMatchObject({ code: "upstream_timeout" });
  expect(scene.outcomes).toEqual(["interrupted"]);
});

test("a client that disconnects ends the upstream's call", async () => {
  const scene = new StreamScene({ bytes: true });
  await scene.send(noise);
  await scene.leave();
  expect([scene.abort.signal.aborted, scene.outcomes]).toEqual([true, ["abandoned"]]);
});
