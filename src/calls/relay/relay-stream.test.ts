import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError, limits } from "../../core/index.ts";
import type { StreamObserver } from "../../streaming/index.ts";
import {
  chunk,
  done,
  finish,
  idleMsMax,
  key,
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

describe("a complete stream", () => {
  test("reaches the client byte for byte and ends once, complete", async () => {
    const scene = new StreamScene();
    await scene.send(chunk("é"), chunk("🙂"), finish, done);
    expect(scene.got).toBe(whole);
    expect(scene.closed).toBe(true);
    expect(scene.outcomes).toEqual(["complete"]);
    await scene.end();
    await tick(10 * idleMsMax);
    expect(scene.outcomes).toEqual(["complete"]);
    expect(scene.ends[0]?.[1]).toBeUndefined();
  });

  test("is the same however the network cut it", async () => {
    const bytes = Buffer.from(`: comment\r\n\r\n${whole}`);
    const cuts = fc.array(fc.nat(bytes.length), { maxLength: 12 });
    const property = fc.asyncProperty(cuts, async (places) => {
      const scene = new StreamScene();
      let from = 0;
      for (const place of [...places.toSorted((a, b) => a - b), bytes.length]) {
        if (place > from) await scene.send(bytes.subarray(from, place));
        from = Math.max(from, place);
      }
      await scene.end();
      expect(scene.got).toBe(bytes.toString());
      expect(scene.outcomes).toEqual(["complete"]);
      expect(scene.firstBytes).toBe(1);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test("is passed on event by event, as they arrive", async () => {
    const scene = new StreamScene();
    await scene.send(chunk("one"));
    expect(scene.got).toBe(chunk("one"));
    await scene.send(chunk("two").slice(0, 9));
    expect(scene.got).toBe(chunk("one"));
    await scene.send(chunk("two").slice(9));
    expect(scene.got).toBe(chunk("one") + chunk("two"));
    expect(scene.ends).toEqual([]);
  });

  test("needs no last event if it is whole", async () => {
    const scene = new StreamScene();
    await scene.send(chunk("one"), finish);
    await scene.end();
    expect(scene.got).toBe(chunk("one") + finish);
    expect(scene.outcomes).toEqual(["complete"]);
  });

  test("needs no line end after its last event", async () => {
    const scene = new StreamScene();
    await scene.send(chunk("one"), finish, "data: [DONE]");
    await scene.end();
    expect(scene.got).toBe(`${chunk("one")}${finish}data: [DONE]`);
    expect(scene.outcomes).toEqual(["complete"]);
  });

  test("is complete for the client only when its charge is durable", async () => {
    const scene = new StreamScene();
    const { promise, resolve } = Promise.withResolvers<void>();
    scene.commit = promise;
    await scene.send(chunk("one"));
    await scene.send(finish + done);
    expect(scene.got).toBe(chunk("one"));
    expect(scene.closed).toBe(false);
    resolve();
    await turns();
    expect(scene.got).toBe(chunk("one") + finish + done);
    expect(scene.closed).toBe(true);
  });

  test("hides the usage that the client did not request, and reads it anyway", async () => {
    const scene = new StreamScene();
    await scene.send(chunk("one"), finish, usage, done);
    expect(scene.got).toBe(chunk("one") + finish + done);
    expect(scene.observer.usage?.usage).toMatchObject({ input: 7, output: 11 });
  });

  test("contains the usage if the client requested it", async () => {
    const scene = new StreamScene({ includeUsage: true });
    await scene.send(chunk("one"), finish, usage, done);
    expect(scene.got).toBe(chunk("one") + finish + usage + done);
  });
});

describe("an upstream that keeps the connection open after the last event", () => {
  test("does not keep the client waiting", async () => {
    const scene = new StreamScene();
    await scene.send(whole);
    expect(scene.closed).toBe(true);
    expect(scene.abort.signal.aborted).toBe(false);
  });

  test("is closed after a while", async () => {
    const scene = new StreamScene();
    await scene.send(whole);
    await tick(limits.streamEndMsMax);
    expect(scene.abort.signal.aborted).toBe(true);
    expect(scene.outcomes).toEqual(["complete"]);
  });

  test("and closes it in time is not aborted", async () => {
    const scene = new StreamScene();
    await scene.send(whole);
    await scene.end();
    await tick(10 * limits.streamEndMsMax);
    expect(scene.abort.signal.aborted).toBe(false);
  });
});

describe("a stream that breaks", () => {
  test("off early ends with an error event after the whole events", async () => {
    const scene = new StreamScene();
    await scene.send(chunk("one"));
    await scene.end();
    expect(scene.got).toStartWith(chunk("one"));
    expect(scene.errorEvent).toMatchObject({ code: "upstream_interrupted" });
    expect(scene.closed).toBe(true);
    expect(scene.outcomes).toEqual(["interrupted"]);
  });

  test("within an event ends with an error event that is not swallowed by the incomplete one", async () => {
    const scene = new StreamScene();
    await scene.send(chunk("one") + chunk("two").slice(0, 20));
    await scene.end();
    expect(scene.got).toStartWith(`${chunk("one")}data: {"error"`);
    expect(scene.errorEvent).toMatchObject({ code: "upstream_interrupted" });
    expect(scene.outcomes).toEqual(["interrupted"]);
  });

  test("with its connection ends with an error event, with the cause in the log", async () => {
    const scene = new StreamScene();
    const reset = new Error("connection reset");
    await scene.send(chunk("one") + chunk("two").slice(0, 20));
    await scene.fail(reset);
    expect(scene.got).toStartWith(`${chunk("one")}data: {"error"`);
    expect(scene.got).not.toContain("connection reset");
    expect(scene.errorEvent).toMatchObject({ code: "upstream_interrupted" });
    expect(scene.ends).toMatchObject([["interrupted", { code: "upstream_interrupted", cause: reset }]]);
  });

  test("before its first byte ends with an error event too", async () => {
    const scene = new StreamScene();
    await scene.end();
    expect(scene.errorEvent).toMatchObject({ code: "upstream_interrupted" });
    // Its client has got nothing that could have been interrupted.
    expect(scene.outcomes).toEqual(["failed"]);
    expect(scene.firstBytes).toBe(0);
  });

  test("within an event too long to retain ends it before the error event", async () => {
    const scene = new StreamScene();
    const long = chunk("x".repeat(limits.eventBytesMax + 1));
    await scene.send(long.slice(0, -10));
    // The end of a part waits for the next one: a key may span both.
    expect(scene.got.length).toBeGreaterThan(limits.eventBytesMax / 2);
    await scene.end();
    expect(scene.errorEvent).toMatchObject({ code: "upstream_interrupted" });
  });
});

describe("an error event of the upstream", () => {
  test("is passed on as the stream's end", async () => {
    const scene = new StreamScene();
    await scene.send(chunk("one"), upstreamError("overloaded"));
    await scene.end();
    expect(scene.got).toBe(chunk("one") + upstreamError("overloaded"));
    expect(scene.outcomes).toEqual(["failed"]);
  });

  test("followed by a last event is a failure nevertheless", async () => {
    const scene = new StreamScene();
    await scene.send(upstreamError("overloaded"), done);
    expect(scene.got).toBe(upstreamError("overloaded") + done);
    expect(scene.closed).toBe(true);
    expect(scene.outcomes).toEqual(["failed"]);
  });

  test("that repeats the key is redacted, and otherwise unchanged", async () => {
    const scene = new StreamScene();
    await scene.send(chunk("é"), upstreamError(`Incorrect API key é🙂: ${key}`));
    await scene.end();
    expect(scene.got).toBe(chunk("é") + upstreamError("Incorrect API key é🙂: [redacted]"));
  });
});

describe("silence", () => {
  test("that lasts too long ends the call with an error event", async () => {
    const scene = new StreamScene();
    await scene.send(chunk("one"));
    await tick(idleMsMax);
    expect(scene.ends).toEqual([]);
    await tick(1);
    expect(scene.abort.signal.aborted).toBe(true);
    expect(scene.errorEvent).toMatchObject({ code: "upstream_timeout" });
    expect(scene.closed).toBe(true);
    expect(scene.outcomes).toEqual(["interrupted"]);
  });

  test("restarts with every byte", async () => {
    const scene = new StreamScene();
    for (let passed = 0; passed < 3 * idleMsMax; passed += idleMsMax - 1) {
      await scene.send(chunk("more"));
      await tick(idleMsMax - 1);
    }
    expect(scene.ends).toEqual([]);
  });

  test("gets a comment line every fifteen seconds, so that no intermediary closes the connection", async () => {
    const scene = new StreamScene();
    const comments = (): number => scene.got.split(": keep-alive\n\n").length - 1;
    await scene.send(chunk("one"));
    await tick(limits.keepAliveMs - 1);
    expect(comments()).toBe(0);
    await tick(1);
    expect(comments()).toBe(1);
    for (let passed = 0; passed < 3 * limits.keepAliveMs; passed += tickMs) await tick(tickMs);
    expect(comments()).toBe(4);
    await scene.send(chunk("two"), finish, done);
    expect(scene.got.replaceAll(": keep-alive\n\n", "")).toBe(chunk("one") + chunk("two") + finish + done);
  });

  test("within an event gets its comment between whole ones", async () => {
    const scene = new StreamScene();
    await scene.send(chunk("one") + chunk("two").slice(0, 20));
    await tick(limits.keepAliveMs);
    await scene.send(chunk("two").slice(20));
    expect(scene.got).toBe(`${chunk("one")}: keep-alive\n\n${chunk("two")}`);
  });

  test("within an event too long to retain gets none", async () => {
    const scene = new StreamScene();
    const long = chunk("x".repeat(limits.eventBytesMax + 1));
    await scene.send(long.slice(0, -10));
    await tick(limits.keepAliveMs);
    await scene.send(long.slice(-10), finish, done);
    expect(scene.got).toBe(long + finish + done);
  });

  test("after the end gets none", async () => {
    const scene = new StreamScene();
    await scene.send(whole);
    await tick(limits.keepAliveMs);
    expect(scene.got).toBe(whole);
  });
});

test("a call that is ended while nobody reads its stream ends at the next tick", async () => {
  const scene = new StreamScene({ reads: false });
  await scene.send(chunk("one"));
  await scene.read();
  const far = chunk("x".repeat(300_000));
  await scene.send(far, far);
  expect(scene.upstreamPaused).toBe(true);
  scene.abort.abort(new GatewayError("token_revoked", "The token has been revoked."));
  await tick(tickMs);
  expect(scene.outcomes).toEqual(["interrupted"]);
  while (await scene.read());
  expect(scene.errorEvent).toMatchObject({ code: "token_revoked" });
});

describe("a client that disconnects", () => {
  test("ends the upstream's call and the charge, once", async () => {
    const scene = new StreamScene({ reads: false });
    await scene.send(chunk("one"));
    await scene.read();
    await scene.leave();
    expect(scene.abort.signal.aborted).toBe(true);
    expect(scene.outcomes).toEqual(["abandoned"]);
    await tick(10 * idleMsMax);
    expect(scene.outcomes).toEqual(["abandoned"]);
    expect(scene.observer.outputBytes).toBe(3);
  });

  test("before the first byte ends it too", async () => {
    const scene = new StreamScene({ reads: false });
    const reading = scene.read();
    await scene.leave();
    expect(await reading).toBe(false);
    expect(scene.abort.signal.aborted).toBe(true);
    expect(scene.outcomes).toEqual(["abandoned"]);
  });

  test("after the end changes nothing", async () => {
    const scene = new StreamScene();
    await scene.send(whole);
    await scene.leave();
    expect(scene.outcomes).toEqual(["complete"]);
  });
});

describe("a client that does not read", () => {
  /** Two of these exceed the limit of bytes waiting for a client. */
  const long = chunk("x".repeat(200_000));

  test("takes no more from the upstream than it reads", async () => {
    const scene = new StreamScene({ reads: false });
    await scene.send(chunk("one"));
    expect(scene.firstBytes).toBe(0);
    await scene.read();
    expect(scene.got).toBe(chunk("one"));
    await scene.send(long, long, long);
    expect(scene.upstreamPaused).toBe(true);
    for (let reads = 0; reads < 3; reads += 1) {
      void scene.read();
      await turns();
    }
    expect(scene.upstreamPaused).toBe(false);
    await scene.send(finish + done);
    while (await scene.read());
    expect(scene.got).toBe(chunk("one") + long.repeat(3) + finish + done);
  });

  test("for too long loses its stream, and the upstream's call ends", async () => {
    const scene = new StreamScene({ reads: false });
    await scene.send(chunk("one"));
    await scene.read();
    await scene.send(long, long, long);
    await tick(idleMsMax + 1);
    expect(scene.abort.signal.aborted).toBe(true);
    expect(scene.ends).toMatchObject([["interrupted", { code: "request_timeout" }]]);
  });

  test("gets at most one comment line meanwhile", async () => {
    const scene = new StreamScene({ reads: false });
    await scene.send(chunk("one"));
    await scene.read();
    for (let passed = 0; passed < 5 * limits.keepAliveMs; passed += tickMs) await tick(tickMs);
    await scene.send(chunk("two") + finish + done);
    while (await scene.read());
    expect(scene.got).toBe(`${chunk("one")}: keep-alive\n\n${chunk("two")}${finish}${done}`);
  });
});

test("a stream whose end fails breaks off, and affects nothing else", async () => {
  const wrong = new Error("nobody expected this");
  const observer = {
    see: (block: Buffer) => block,
    heldBack(): Buffer {
      throw wrong;
    },
    outputBytes: 0,
    usage: undefined,
    done: false,
    complete: false,
    failed: false,
  };
  for (const how of ["end", "fail"] as const) {
    const scene = new StreamScene({ observer });
    await scene.send(chunk("one"));
    await scene[how](new Error("reset"));
    expect([scene.outcomes, scene.broken, scene.upstreamCancelled]).toEqual([["interrupted"], wrong, true]);
  }
  const uncommitted = new StreamScene();
  uncommitted.commit = Promise.reject(wrong);
  await uncommitted.send(chunk("one") + finish + done);
  expect([uncommitted.outcomes, uncommitted.broken]).toEqual([["complete"], undefined]);
  // The last event is withheld: the client must not take the answer for complete.
  expect(uncommitted.got).not.toContain("[DONE]");
  expect(uncommitted.errorEvent).toMatchObject({ code: "upstream_interrupted" });
  // Before the charge has ended.
  let seen = false;
  const failing: StreamObserver = {
    see: (block) => block,
    outputBytes: 0,
    usage: undefined,
    complete: true,
    get done(): boolean {
      seen = true;
      return true;
    },
    get failed(): boolean {
      if (seen) throw wrong;
      return false;
    },
  };
  const unended = new StreamScene({ observer: failing });
  await unended.send(chunk("one"));
  expect([unended.outcomes, unended.errorEvent?.code]).toEqual([["interrupted"], "upstream_interrupted"]);
});

test("a stream whose charge is not durable ends with that error instead of its last event", async () => {
  const scene = new StreamScene();
  scene.commit = Promise.reject(new GatewayError("storage_unavailable", "The charge can't be written."));
  await scene.send(chunk("one") + finish + done);
  expect(scene.got).not.toContain("[DONE]");
  expect(scene.errorEvent).toMatchObject({ code: "storage_unavailable" });
});
