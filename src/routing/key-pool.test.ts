import { beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
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

describe("a key that was refused three times in a row", () => {
  const refused = { name: "key_refused", retryAfterMs: undefined } as const;

  function refusedPool(...secrets: string[]) {
    const changes: string[] = [];
    const pool = new KeyPool(secrets, () => now, {
      onChange: ({ keyId }, change) => void changes.push(`${keyId} ${change}`),
    });
    const refuse = (secret: string, times = 3): void => {
      for (let time = 0; time < times; time += 1) pool.note(keyOf(secret), refused);
    };
    return { pool, changes, refuse };
  }

  test("is asked by one call a minute until it works, whatever the number of calls, and is reported once", () => {
    const { pool, changes, refuse } = refusedPool("a");
    refuse("a");
    expect([take(pool, 50), pool.ids.length]).toEqual([Array<undefined>(50).fill(undefined), 1]);
    for (let minute = 0; minute < 5; minute += 1) {
      now += 60_000;
      expect(take(pool, 50).filter((secret) => secret === "a")).toHaveLength(1);
      refuse("a", 1);
    }
    now += 60_000;
    expect(pool.acquire()?.secret).toBe("a");
    pool.noteAnswer(keyOf("a"), undefined);
    expect([take(pool, 2), pool.learns]).toEqual([["a", "a"], false]);
    expect(changes).toEqual([`${keyIdOf("a")} refused`, `${keyIdOf("a")} works`]);
  });

  test("for one operation is used for the others as before: it may lack the permission for that one", () => {
    const { pool, changes } = refusedPool("a");
    for (let time = 0; time < 9; time += 1) pool.note(keyOf("a"), refused, "/images");
    expect([pool.acquire(undefined, "/images"), pool.acquire(undefined, "/chat")?.secret]).toEqual([undefined, "a"]);
    // What works for one operation says nothing about the other one.
    pool.noteAnswer(keyOf("a"), undefined, "/chat");
    expect(pool.acquire(undefined, "/images")).toBeUndefined();
    now += 60_000;
    expect(pool.acquire(undefined, "/images")?.secret).toBe("a");
    expect(pool.acquire(undefined, "/images")).toBeUndefined();
    pool.adopt({ keyId: keyIdOf("a") }, "works");
    expect([pool.acquire(undefined, "/images")?.secret, pool.learns, changes.length]).toEqual(["a", false, 1]);
  });

  test("leaves the calls to the others, and is asked by one of them a minute", () => {
    const { pool, refuse } = refusedPool("a", "b");
    refuse("a");
    expect(take(pool, 3)).toEqual(["b", "b", "b"]);
    now += 60_000;
    expect(take(pool, 20).filter((secret) => secret === "a")).toHaveLength(1);
    expect(pool.hasOther(keyOf("b"))).toBe(false);
  });

  test("elsewhere rests here too, until it works elsewhere; nothing is reported back", () => {
    const { pool, changes } = refusedPool("a");
    pool.adopt({ keyId: keyIdOf("a"), operation: "" }, "refused");
    now += 59_999;
    pool.adopt({ keyId: keyIdOf("a"), operation: "" }, "refused");
    expect(take(pool, 2)).toEqual([undefined, undefined]);
    now += 1;
    expect(take(pool, 2)).toEqual(["a", undefined]);
    pool.adopt({ keyId: keyIdOf("a"), operation: "" }, "works");
    expect([take(pool, 2), pool.learns, changes]).toEqual([["a", "a"], false, []]);
    pool.adopt({ keyId: "of another configuration", operation: "" }, "refused");
    expect(pool.learns).toBe(false);
  });

  test("is asked again in time for each operation, whatever the others come to", () => {
    const { pool } = refusedPool("a");
    const fail = (name: "key_refused" | "rate_limited", operation: string): void => {
      if (pool.acquire(undefined, operation) !== undefined)
        pool.note(keyOf("a"), { name, retryAfterMs: undefined }, operation);
    };
    for (const operation of ["/chat", "/speech"])
      for (let time = 0; time < 3; time += 1) fail("key_refused", operation);
    // The key has no permission for speech, which is asked for all the time, and its limits are used up.
    for (let second = 0; second < 60; second += 1) {
      now += 1_000;
      fail("key_refused", "/speech");
      fail("rate_limited", "/embeddings");
    }
    expect(pool.acquire(undefined, "/chat")?.secret).toBe("a");
    pool.noteAnswer(keyOf("a"), undefined, "/chat");
    expect([pool.acquire(undefined, "/speech"), pool.acquire(undefined, "/chat")?.secret]).toEqual([undefined, "a"]);
    expect(pool.refused).toEqual([{ keyId: keyIdOf("a"), operation: "/speech" }]);
  });

  test("elsewhere may be asked a minute after that: it may have been repaired before this process began", () => {
    const { pool, changes } = refusedPool("a");
    pool.adopt({ keyId: keyIdOf("a"), operation: "" }, "refused", now - 50_000);
    expect(take(pool, 1)).toEqual([undefined]);
    now += 10_000;
    expect(take(pool, 2)).toEqual(["a", undefined]);
    pool.noteAnswer(keyOf("a"), undefined);
    expect([take(pool, 2), changes]).toEqual([["a", "a"], [`${keyIdOf("a")} works`]]);
  });

  test("must have been refused in a row, and for itself: quota and limits are another thing", () => {
    const { pool, changes, refuse } = refusedPool("a");
    refuse("a", 2);
    pool.noteAnswer(keyOf("a"), undefined);
    refuse("a", 2);
    for (let time = 0; time < 5; time += 1) pool.note(keyOf("a"), { name: "quota_gone", retryAfterMs: undefined });
    expect([take(pool, 2), changes]).toEqual([["a", "a"], []]);
  });
});

describe("several keys", () => {
  const shares = (pool: KeyPool, count: number): Record<string, number> => {
    const taken: Record<string, number> = {};
    for (const secret of take(pool, count)) taken[secret ?? ""] = (taken[secret ?? ""] ?? 0) + 1;
    return taken;
  };

  test("are chosen in proportion to the room in their limits", () => {
    const pool = poolOf("a", "b", "c");
    pool.noteAnswer(keyOf("a"), 0.8);
    pool.noteAnswer(keyOf("b"), 0.2);
    pool.noteAnswer(keyOf("c"), 0);
    expect(shares(pool, 1_010)).toEqual({ a: 800, b: 200, c: 10 });
  });

  test("have their whole room again after a minute, and where none is known", () => {
    const pool = poolOf("a", "b");
    pool.noteAnswer(keyOf("a"), 0);
    now += 60_000;
    expect(shares(pool, 100)).toEqual({ a: 50, b: 50 });
  });

  test("are chosen by session, which keeps its key while that has room", () => {
    const pool = poolOf("a", "b", "c");
    const sessions = Array.from({ length: 300 }, (_, index) => `session ${index}`);
    const keyOfSession = (session: string): string => pool.acquire(session)?.secret ?? "";
    const first = sessions.map(keyOfSession);
    expect(sessions.map(keyOfSession)).toEqual(first);
    for (const secret of ["a", "b", "c"]) expect(first.filter((each) => each === secret).length).toBeGreaterThan(70);
    pool.noteAnswer(keyOf("a"), 0.01);
    pool.note(keyOf("b"), { name: "rate_limited", retryAfterMs: 1_000 });
    expect(new Set(sessions.map(keyOfSession))).toEqual(new Set(["c"]));
    now += 60_000;
    expect(sessions.map(keyOfSession)).toEqual(first);
  });

  test("whatever their room, no turn is lost and none is chosen while it rests", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            key: fc.nat(2),
            room: fc.double({ min: 0, max: 1, noNaN: true }),
            rests: fc.boolean(),
            passes: fc.nat(4_000),
          }),
          { maxLength: 60 },
        ),
        (steps) => {
          const pool = poolOf("a", "b", "c");
          const resting = new Map<string, number>();
          for (const { key, room, rests, passes } of steps) {
            const secret = ["a", "b", "c"][key] ?? "a";
            if (rests) {
              pool.note(keyOf(secret), { name: "rate_limited", retryAfterMs: 3_000 });
              resting.set(secret, now + 3_000);
            } else pool.noteAnswer(keyOf(secret), room);
            now += passes;
            const chosen = pool.acquire()?.secret ?? "";
            const ready = ["a", "b", "c"].filter((each) => (resting.get(each) ?? 0) <= now);
            if (ready.length > 0) expect(ready).toContain(chosen);
            else expect(chosen).not.toBe("");
          }
        },
      ),
      { numRuns: 200 },
    );
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

describe("keys with names", () => {
  const named = (name: string, rest: object = {}) => ({ name, secret: `sk-${name}`, ...rest });
  const pool = (...keys: ConstructorParameters<typeof KeyPool>[0]): KeyPool => new KeyPool(keys, () => now);
  const ids = (from: KeyPool, count: number, model?: string): (string | undefined)[] =>
    Array.from({ length: count }, () => from.acquire(undefined, "", model)?.id);

  test("have them as their ids, and are found by the hashes that they had before", () => {
    const keys = pool(named("prod"), "sk-old");
    expect(keys.ids).toEqual(["prod", keyIdOf("sk-old")]);
    expect([keys.find("prod")?.secret, keys.find(keyIdOf("sk-prod"))?.id]).toEqual(["sk-prod", "prod"]);
    const secret = "sk-long-enough-to-be-redacted";
    expect(pool({ name: "prod", secret }).redact(`wrong key ${secret}`)).not.toContain(secret);
  });

  test("are used by their weights", () => {
    const chosen = ids(pool(named("a", { weight: 3 }), named("b")), 40);
    expect(chosen.filter((id) => id === "a")).toHaveLength(30);
  });

  test("are used for their models alone", () => {
    const keys = pool(named("batch", { models: ["gpt-4o*"] }), named("rest", { models: ["o3"] }));
    expect(new Set(ids(keys, 6, "gpt-4o-mini"))).toEqual(new Set(["batch"]));
    expect(ids(keys, 2, "o3")).toEqual(["rest", "rest"]);
    expect([keys.serves("o3"), keys.serves("o4"), keys.acquire(undefined, "", "o4")]).toEqual([true, false, undefined]);
    const batch = keys.acquire("session", "", "gpt-4o");
    expect(batch?.id).toBe("batch");
    if (batch !== undefined) expect([keys.hasOther(batch, "", "gpt-4o"), keys.hasOther(batch)]).toEqual([false, true]);
    expect(pool(named("only", { models: ["o3"] })).acquire(undefined, "", "o4")).toBeUndefined();
  });
});
