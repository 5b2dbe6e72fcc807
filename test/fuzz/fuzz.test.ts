/** A few seconds of every target, from another seed each time; `npm run fuzz` tries for longer. */
import { expect, test } from "bun:test";
import { targets } from "./targets.ts";

test.each(targets.map((target) => ({ name: target.name, target })))("$name withstand chance", async ({ target }) => {
  const seed = crypto.getRandomValues(new Int32Array(1))[0] ?? 0;
  const { runs, failure } = await target.check({ numRuns: target.runs, seed });
  // The report of a failure names its seed, and the smallest input found.
  expect(failure).toBeUndefined();
  expect(runs).toBe(target.runs);
});
