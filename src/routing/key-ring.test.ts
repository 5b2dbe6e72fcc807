import { beforeEach, describe, expect, test } from "bun:test";
import { KeyRing } from "./key-ring.ts";

let now: number;
beforeEach(() => {
  now = 1_000_000;
});

const ringOf = (...keys: string[]): KeyRing => new KeyRing(keys, () => now);
const take = (ring: KeyRing, count: number): (string | undefined)[] => Array.from({ length: count }, () => ring.take());

describe("keys", () => {
  test("are used in turn", () => {
    expect(take(ringOf("a", "b", "c"), 7)).toEqual(["a", "b", "c", "a", "b", "c", "a"]);
    expect(take(ringOf("a"), 2)).toEqual(["a", "a"]);
  });

  test("may be none", () => {
    const ring = ringOf();
    expect(ring.take()).toBeUndefined();
    expect(ring.scrub("text")).toBe("text");
  });
});

describe("a key that was refused or limited", () => {
  test("rests while another is there", () => {
    const ring = ringOf("a", "b", "c");
    ring.rest("b", "refused", undefined);
    expect(take(ring, 4)).toEqual(["a", "c", "a", "c"]);
  });

  test.each<["refused" | "limited", number | undefined, number]>([
    ["refused", undefined, 60_000],
    // How long a wrong key is to wait is not the upstream's to say.
    ["refused", 5, 60_000],
    ["limited", undefined, 5_000],
    ["limited", 30_000, 30_000],
    ["limited", 0, 0],
  ])("(%s, retry after %p ms) rests for %p ms", (why, retryAfterMs, milliseconds) => {
    const ring = ringOf("a", "b");
    ring.rest("a", why, retryAfterMs);
    if (milliseconds > 0) {
      now += milliseconds - 1;
      expect(take(ring, 2)).toEqual(["b", "b"]);
      now += 1;
    }
    expect(new Set(take(ring, 2))).toEqual(new Set(["a", "b"]));
  });

  test("is used all the same where all rest: the one that wakes first", () => {
    const ring = ringOf("a", "b", "c");
    ring.rest("a", "limited", 3_000);
    ring.rest("b", "limited", 1_000);
    ring.rest("c", "refused", undefined);
    expect(take(ring, 3)).toEqual(["b", "b", "b"]);
  });

  test("leaves it known whether another could be used", () => {
    const ring = ringOf("a", "b");
    expect(ring.hasOther("a")).toBe(true);
    ring.rest("b", "limited", 1_000);
    expect([ring.hasOther("a"), ring.hasOther("b")]).toEqual([false, true]);
    now += 1_000;
    expect(ring.hasOther("a")).toBe(true);
    expect(ringOf("a").hasOther("a")).toBe(false);
  });

  test("that is not in the ring changes nothing", () => {
    const ring = ringOf("a", "b");
    ring.rest("x", "refused", undefined);
    expect(take(ring, 2)).toEqual(["a", "b"]);
  });
});

describe("a text", () => {
  const ring = ringOf("sk-first-0123456789", "sk-second-(.*)$-9876", "ollama");

  test.each<[string, string]>([
    ["nothing to hide", "nothing to hide"],
    ["key sk-first-0123456789, again sk-first-0123456789!", "key [redacted], again [redacted]!"],
    ["both sk-second-(.*)$-9876 and sk-first-0123456789", "both [redacted] and [redacted]"],
    // A stand-in for a key is a word like any other.
    ["ollama has no such model", "ollama has no such model"],
  ])("%p becomes %p", (text, scrubbed) => {
    expect(ring.scrub(text)).toBe(scrubbed);
  });
});
