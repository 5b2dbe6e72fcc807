import { beforeEach, describe, expect, test } from "bun:test";
import { type Key, KeyPool, keyIdOf } from "./key-pool.ts";

let now: number;
beforeEach(() => {
  now = 1_000_000;
});

const poolOf = (...keys: string[]): KeyPool => new KeyPool(keys, () => now);
const keyOf = (secret: string): Key => ({ id: keyIdOf(secret), secret, cachedHeaders: [] });
const take = (pool: KeyPool, count: number): (string | undefined)[] =>
  Array.from({ length: count }, () => pool.acquire()?.secret);

describe("keys", () => {
  test("are used in turn", () => {
    expect(take(poolOf("a", "b", "c"), 7)).toEqual(["a", "b", "c", "a", "b", "c", "a"]);
    expect(take(poolOf("a"), 2)).toEqual(["a", "a"]);
  });

  test("are found by their ids, which don't contain the secrets", () => {
    const pool = poolOf("sk-a", "sk-b");
    const [first, second] = [pool.acquire(), pool.acquire()];
    expect(first?.id).not.toBe(second?.id);
    expect(pool.find(second?.id ?? "")).toBe(second as Key);
    expect(pool.find("gone")).toBeUndefined();
    expect(first?.id).not.toContain("sk-a");
  });

  test("may be absent", () => {
    const pool = poolOf();
    expect(pool.acquire()?.secret).toBeUndefined();
    expect(pool.redact("text")).toBe("text");
  });
});

describe("a key that was refused or limited", () => {
  test("cools down while another key is ready", () => {
    const pool = poolOf("a", "b", "c");
    pool.coolDown(keyOf("b"), "refused", undefined);
    expect(take(pool, 4)).toEqual(["a", "c", "a", "c"]);
  });

  test.each<["refused" | "limited", number | undefined, number]>([
    ["refused", undefined, 60_000],
    // The upstream's wait does not apply to a refused key.
    ["refused", 5, 60_000],
    ["limited", undefined, 5_000],
    ["limited", 30_000, 30_000],
    ["limited", 0, 0],
  ])("(%s, retry after %p ms) cools down for %p ms", (why, retryAfterMs, milliseconds) => {
    const pool = poolOf("a", "b");
    pool.coolDown(keyOf("a"), why, retryAfterMs);
    if (milliseconds > 0) {
      now += milliseconds - 1;
      expect(take(pool, 2)).toEqual(["b", "b"]);
      now += 1;
    }
    expect(new Set(take(pool, 2))).toEqual(new Set(["a", "b"]));
  });

  test("is used if all keys cool down and it is the first one ready", () => {
    const pool = poolOf("a", "b", "c");
    pool.coolDown(keyOf("a"), "limited", 3_000);
    pool.coolDown(keyOf("b"), "limited", 1_000);
    pool.coolDown(keyOf("c"), "refused", undefined);
    expect(take(pool, 3)).toEqual(["b", "b", "b"]);
  });

  test("is not counted as another key that could be used", () => {
    const pool = poolOf("a", "b");
    expect(pool.hasOther(keyOf("a"))).toBe(true);
    pool.coolDown(keyOf("b"), "limited", 1_000);
    expect([pool.hasOther(keyOf("a")), pool.hasOther(keyOf("b"))]).toEqual([false, true]);
    now += 1_000;
    expect(pool.hasOther(keyOf("a"))).toBe(true);
    expect(poolOf("a").hasOther(keyOf("a"))).toBe(false);
  });

  test("that is not in the pool changes nothing", () => {
    const pool = poolOf("a", "b");
    pool.coolDown(keyOf("x"), "refused", undefined);
    expect(take(pool, 2)).toEqual(["a", "b"]);
  });
});

describe("a text", () => {
  const pool = poolOf("sk-first-0123456789", "sk-second-(.*)$-9876", "ollama");

  test.each<[string, string]>([
    ["nothing to hide", "nothing to hide"],
    ["key sk-first-0123456789, again sk-first-0123456789!", "key [redacted], again [redacted]!"],
    ["both sk-second-(.*)$-9876 and sk-first-0123456789", "both [redacted] and [redacted]"],
    // A short placeholder for a key may be an ordinary word.
    ["ollama has no such model", "ollama has no such model"],
  ])("%p becomes %p", (text, redacted) => {
    expect(pool.redact(text)).toBe(redacted);
  });
});
