import { afterEach, expect, test } from "bun:test";
import { Ticker } from "./ticker.ts";

let ticker: Ticker | undefined;
afterEach(() => ticker?.stop());

/** Resolves after that many ticks, with the moment that each callback was told. */
function ticks(of: Ticker, count: number): Promise<number[]> {
  const { promise, resolve } = Promise.withResolvers<number[]>();
  const seen: number[] = [];
  const unwatch = of.watch((now) => {
    seen.push(now);
    if (seen.length < count) return;
    unwatch();
    resolve(seen);
  });
  return promise;
}

test("tells everybody on every tick what time it is, until they leave", async () => {
  let now = 100;
  ticker = new Ticker(1, () => (now += 1));
  let calls = 0;
  const leave = ticker.watch(() => (calls += 1));
  const [first, second, third] = await ticks(ticker, 3);
  expect([(second ?? 0) - (first ?? 0), (third ?? 0) - (second ?? 0)]).toEqual([1, 1]);
  expect(calls).toBe(3);
  leave();
  await ticks(ticker, 2);
  expect(calls).toBe(3);
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

test("a callback may leave or join while the tick is under way", async () => {
  ticker = new Ticker(1, () => 0);
  const own = ticker;
  const called: string[] = [];
  const leave = own.watch(() => {
    leave();
    called.push("first");
    const leaveToo = own.watch(() => {
      leaveToo();
      called.push("joined");
    });
  });
  await ticks(own, 3);
  expect(called).toEqual(["first", "joined"]);
});

test("is quiet once stopped", async () => {
  ticker = new Ticker(1, () => 0);
  let calls = 0;
  ticker.watch(() => (calls += 1));
  await ticks(ticker, 1);
  ticker.stop();
  const before = calls;
  const other = new Ticker(1, () => 0);
  await ticks(other, 5);
  other.stop();
  expect(calls).toBe(before);
});
