import { afterEach, expect, test } from "bun:test";
import { watchSilence } from "./silence.ts";
import { Ticker } from "./ticker.ts";

let ticker: Ticker | undefined;
afterEach(() => ticker?.stop());

/** A ticker on a clock that the test sets, and a way to let a few ticks pass. */
function start() {
  const clock = { now: 0 };
  const own = new Ticker(1, () => clock.now);
  ticker = own;
  const pass = async (to: number): Promise<void> => {
    clock.now = to;
    const { promise, resolve } = Promise.withResolvers<void>();
    let left = 3;
    const leave = own.watch(() => {
      left -= 1;
      if (left > 0) return;
      leave();
      resolve();
    });
    await promise;
  };
  return { own, pass };
}

test("calls back once after the silence, and not before", async () => {
  const { own, pass } = start();
  let silent = 0;
  watchSilence(own, 100, () => (silent += 1));
  await pass(99);
  expect(silent).toBe(0);
  await pass(100);
  await pass(1_000);
  expect(silent).toBe(1);
});

test("a sound starts the wait anew", async () => {
  const { own, pass } = start();
  let silent = 0;
  const watch = watchSilence(own, 100, () => (silent += 1));
  for (const moment of [60, 120, 180]) {
    await pass(moment);
    watch.heard();
  }
  await pass(279);
  expect(silent).toBe(0);
  await pass(280);
  expect(silent).toBe(1);
});

test("an ended watch says nothing", async () => {
  const { own, pass } = start();
  let silent = 0;
  watchSilence(own, 100, () => (silent += 1)).end();
  await pass(1_000);
  expect(silent).toBe(0);
});
