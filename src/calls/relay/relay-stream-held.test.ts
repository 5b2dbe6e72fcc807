/** A stream passes no more than its hold covers. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { GatewayError } from "../../core/index.ts";
import { chunk, done, finish, startTime, stopTime, StreamScene, turns } from "../__fixtures__/stream-scene.ts";

beforeEach(startTime);
afterEach(stopTime);

describe("a stream with a hold", () => {
  /** A hold that covers some bytes of text, and is raised when the test says so. */
  const holdOf = (covered: number) => {
    const raises: PromiseWithResolvers<void>[] = [];
    const seen: number[] = [];
    const hold = { covered };
    const follow = (outputBytes: number) => {
      seen.push(outputBytes);
      const isCovered = outputBytes < hold.covered;
      const raise = Promise.withResolvers<void>();
      if (!isCovered) raises.push(raise);
      return { untilBytes: isCovered ? hold.covered : outputBytes + 1, raised: isCovered ? undefined : raise.promise };
    };
    return { hold, raises, seen, follow };
  };
  const texts = ["aaaa", "bbbb", "cccc", "dddd"].map((text) => chunk(text));

  test("stops one event beyond it, although more have arrived together", async () => {
    const { follow, seen } = holdOf(8);
    const scene = new StreamScene({ follow });
    await scene.send(texts.join(""));
    expect(scene.got).toBe(texts.slice(0, 2).join(""));
    expect(scene.upstreamPaused).toBe(true);
    expect(seen).toEqual([4, 8]);
  });

  test("goes on once it is raised, with what has arrived meanwhile", async () => {
    const { follow, hold, raises } = holdOf(8);
    const scene = new StreamScene({ follow });
    await scene.send(texts.slice(0, 3).join(""));
    await scene.send(texts[3] ?? "", finish, done);
    await scene.end();
    expect(scene.outcomes).toEqual([]);
    hold.covered = 12;
    raises[0]?.resolve();
    await turns();
    expect(scene.got).toBe(texts.slice(0, 3).join(""));
    hold.covered = 1_000;
    raises[1]?.resolve();
    await turns();
    expect(scene.got).toBe([...texts, finish, done].join(""));
    expect(scene.outcomes).toEqual(["complete"]);
  });

  test("gives timers and sockets a turn between two waits, even if it need not wait", async () => {
    let asked = 0;
    const follow = () => {
      asked += 1;
      return { untilBytes: 0, raised: Promise.resolve() };
    };
    const scene = new StreamScene({ follow });
    await scene.send(texts.join(""));
    // The test itself has had turns meanwhile; each was worth one question.
    expect(asked).toBeGreaterThan(1);
    expect(asked).toBeLessThan(100);
    await scene.leave();
    expect(scene.outcomes).toEqual(["abandoned"]);
  });

  test("stays paused after it was raised while its client is behind", async () => {
    const { follow, hold, raises } = holdOf(4);
    const scene = new StreamScene({ follow, reads: false });
    void scene.read();
    await turns();
    await scene.send(texts[0] ?? "", chunk("y".repeat(400 * 1024)));
    expect(scene.upstreamPaused).toBe(true);
    hold.covered = Number.MAX_SAFE_INTEGER;
    raises[0]?.resolve();
    await turns();
    expect(scene.upstreamPaused).toBe(true);
    for (let reads = 0; reads < 3; reads += 1) {
      void scene.read();
      await turns();
    }
    expect(scene.upstreamPaused).toBe(false);
    await scene.send(finish, done);
    expect(scene.outcomes).toEqual(["complete"]);
  });

  test("ends with an error event if it can't be raised", async () => {
    const { follow, raises } = holdOf(8);
    const scene = new StreamScene({ follow });
    await scene.send(texts.join(""));
    scene.abort.abort(new GatewayError("insufficient_credits", "Nothing is left."));
    raises[0]?.resolve();
    await turns();
    expect(scene.got).toStartWith(texts.slice(0, 2).join(""));
    expect(scene.got).not.toContain("cccc");
    expect(scene.got).toContain("Nothing is left.");
    expect(scene.outcomes).toEqual(["interrupted"]);
    expect(scene.upstreamCancelled).toBe(true);
  });

  test("that its upstream ends early while it waits is broken off after what it had sent", async () => {
    const { follow, hold, raises } = holdOf(4);
    const scene = new StreamScene({ follow });
    await scene.send(texts.slice(0, 2).join(""));
    await scene.end();
    hold.covered = 1_000;
    raises[0]?.resolve();
    await turns();
    expect(scene.got).toStartWith(texts.slice(0, 2).join(""));
    expect(scene.outcomes).toEqual(["interrupted"]);
  });

  test("whose client goes away while it waits has been abandoned", async () => {
    const { follow, raises } = holdOf(4);
    const scene = new StreamScene({ follow });
    await scene.send(texts.join(""));
    await scene.leave();
    raises[0]?.resolve();
    await turns();
    expect(scene.outcomes).toEqual(["abandoned"]);
  });
});
