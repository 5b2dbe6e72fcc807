/** A few seconds of every target, from another seed each time; `npm run fuzz` tries for longer. */
import { expect, test } from "bun:test";
import { targets } from "./targets.ts";

test.each(targets.map((target) => ({ name: target.name, target })))("$name withstand chance", ({ target }) => {
  const seed = crypto.getRandomValues(new Int32Array(1))[0] ?? 0;
  const { runs, failure } = target.check({ numRuns: 2_000, seed });
  // The report of a failure names its seed, and the smallest input found.
  expect(failure).toBeUndefined();
  expect(runs).toBe(2_000);
});
