import { afterEach, expect, test } from "bun:test";
import { Ticker, type Watched } from "./ticker.ts";

let ticker: Ticker | undefined;
afterEach(() => ticker?.stop());

const watched = (onTick: Watched["onTick"]): Watched => ({ slot: -1, onTick });

/** Resolves after this many ticks, with the time passed to each callback. */
function ticks(of: Ticker, count: number): Promise<number[]> {
  const { promise, resolve } = Promise.withResolvers<number[]>();
  const seen: number[] = [];
  const counter = watched((now) => {
    seen.push(now);
    if (seen.length < count) return;
    of.leave(counter);
    resolve(seen);
  });
  of.watch(counter);
  return promise;
}

test("passes the time to every callback on every tick, until it leaves", async () => {
  let now = 100;
  ticker = new Ticker(1, () => (now += 1));
  let calls = 0;
  const caller = watched(() => (calls += 1));
  ticker.watch(caller);
  const [first, second, third] = await ticks(ticker, 3);
  expect([(second ?? 0) - (first ?? 0), (third ?? 0) - (second ?? 0)]).toEqual([1, 1]);
  expect(calls).toBe(3);
  ticker.leave(caller);
  ticker.leave(caller);
  await ticks(ticker, 2);
  expect(calls).toBe(3);
});

test("every remaining callback runs once on every tick, whichever others leave", async () => {
  ticker = new Ticker(1, () => 0);
  const own = ticker;
  const calls = [0, 0, 0, 0, 0];
  const all = calls.map((_, index) => watched(() => (calls[index] = (calls[index] ?? 0) + 1)));
  for (const each of all) own.watch(each);
  for (const index of [1, 4, 0]) own.leave(all[index] ?? watched(() => undefined));
  await ticks(own, 3);
  expect(calls).toEqual([0, 0, 3, 3, 0]);
});

test("calls back once when the time has come, and never when cancelled", async () => {
  let now = 0;
  ticker = new Ticker(1, () => now);
  const called: string[] = [];
  ticker.after(10, () => called.push("due"));
  ticker.after(10, () => called.push("cancelled"))();
  now = 9;
  await ticks(ticker, 3);
  expect(called).toEqual([]);
  now = 10;
  await ticks(ticker, 3);
  expect(called).toEqual(["due"]);
});

test("a callback may leave or join during the tick", async () => {
  ticker = new Ticker(1, () => 0);
  const own = ticker;
  const called: string[] = [];
  const joined = watched(() => {
    own.leave(joined);
    called.push("joined");
  });
  const first = watched(() => {
    own.leave(first);
    called.push("first");
    own.watch(joined);
  });
  own.watch(first);
  await ticks(own, 3);
  expect(called).toEqual(["first", "joined"]);
});

test("is quiet once stopped", async () => {
  ticker = new Ticker(1, () => 0);
  let calls = 0;
  ticker.watch(watched(() => (calls += 1)));
  await ticks(ticker, 1);
  ticker.stop();
  const before = calls;
  const other = new Ticker(1, () => 0);
  await ticks(other, 5);
  other.stop();
  expect(calls).toBe(before);
});

test("what one callback throws does not keep the others from being called", async () => {
  const reasons: unknown[] = [];
  ticker = new Ticker(1, () => 0, { onError: (reason) => reasons.push(reason) });
  const broken = new Error("broken");
  ticker.watch(
    watched(() => {
      throw broken;
    }),
  );
  await ticks(ticker, 2);
  expect(reasons.slice(0, 2)).toEqual([broken, broken]);
});
