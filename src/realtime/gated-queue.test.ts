import { beforeEach, describe, expect, test } from "bun:test";
import { GatedQueue } from "./gated-queue.ts";

let events: string[];
let queue: GatedQueue<"one" | "other">;
let holdAfter: string | undefined;
beforeEach(() => {
  events = [];
  holdAfter = undefined;
  queue = new GatedQueue({
    pass: (message) => {
      events.push(String(message));
      if (message === holdAfter) queue.hold("other");
    },
    source: { pause: () => events.push("pause"), resume: () => events.push("resume") },
    bytesMax: 1_000,
    onOverflow: () => events.push("overflow"),
  });
});

describe("messages of one direction", () => {
  test("pass while nothing holds them back", () => {
    queue.push("a");
    queue.push("b");
    expect(events).toEqual(["a", "b"]);
  });

  test("wait until the last reason is gone, in their order", () => {
    queue.hold("one");
    queue.hold("other");
    queue.push("a");
    queue.push("b");
    queue.lift("one");
    expect(events).toEqual(["pause"]);
    expect(queue.isHeldBy("other")).toBe(true);
    queue.lift("other");
    expect(events).toEqual(["pause", "a", "b", "resume"]);
    expect(queue.isHeld).toBe(false);
  });

  test("wait again if one of those that waited holds the rest back: the sender stays paused", () => {
    holdAfter = "a";
    queue.hold("one");
    queue.push("a");
    queue.push("b");
    queue.lift("one");
    expect(events).toEqual(["pause", "a"]);
    queue.lift("other");
    expect(events).toEqual(["pause", "a", "b", "resume"]);
  });

  test("are not let through by a reason that does not stand", () => {
    queue.hold("one");
    queue.push("a");
    queue.lift("other");
    expect(events).toEqual(["pause"]);
  });

  test("end with one overflow if a paused sender goes on", () => {
    queue.hold("one");
    for (let index = 0; index < 20; index += 1) queue.push("x".repeat(100));
    expect(events).toEqual(["pause", "overflow"]);
  });
});
