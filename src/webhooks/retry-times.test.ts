import { expect, test } from "bun:test";
import { retryWaitMs } from "./retry-times.ts";

const HOUR = 3_600_000;

function waits(fraction: number): number[] {
  const found: number[] = [];
  for (let wait = retryWaitMs(1, fraction); wait !== undefined; wait = retryWaitMs(found.length + 1, fraction)) {
    found.push(wait);
  }
  return found;
}

test("nine waits grow from seconds to a day, about three days in all", () => {
  const all = waits(0);
  expect(all).toHaveLength(9);
  expect(all).toEqual(all.toSorted((a, b) => a - b));
  const total = all.reduce((sum, wait) => sum + wait, 0);
  expect(total / HOUR).toBeGreaterThan(72);
  expect(total / HOUR).toBeLessThan(84);
});

test("each wait is up to a tenth longer", () => {
  expect(waits(1)).toEqual(waits(0).map((wait) => Math.round(wait * 1.1)));
});

test("a receiver may ask for a longer wait, up to a day, and not for a shorter one", () => {
  expect(retryWaitMs(1, 0, 60_000)).toBe(60_000);
  expect(retryWaitMs(1, 1, 60_000)).toBe(66_000);
  expect(retryWaitMs(2, 0, 60_000)).toBe(300_000);
  expect(retryWaitMs(1, 0, 1_000 * HOUR)).toBe(24 * HOUR);
  expect(retryWaitMs(10, 0, 60_000)).toBeUndefined();
});
