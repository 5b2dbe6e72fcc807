import { expect, test } from "bun:test";
import { join } from "node:path";
import { missingPairs, SEEDS_OF_ALL_PAIRS, simulate } from "./simulate.ts";

const root = join(import.meta.dir, "../..");

test("a thousand seeds end, with balanced books, and every pair of events meets", async () => {
  const simulated = await simulate({ first: 0, count: SEEDS_OF_ALL_PAIRS, processes: 2, root });
  expect(simulated.failure).toBeUndefined();
  expect(simulated.ended).toBe(SEEDS_OF_ALL_PAIRS);
  expect(missingPairs(simulated)).toEqual([]);
});

test("the same seed gives the same run, whatever ran before it", async () => {
  const one = await simulate({ first: 2_000, count: 30, processes: 1, root });
  const other = await simulate({ first: 2_010, count: 20, processes: 2, root });
  expect(one.traceHashes.size).toBe(30);
  expect(other.traceHashes.size).toBe(20);
  for (const [seed, hash] of other.traceHashes) expect([seed, hash]).toEqual([seed, one.traceHashes.get(seed) ?? NaN]);
});

test("a failure names its seed, and the last line counts the seeds that ended", async () => {
  const command = [process.execPath, join(import.meta.dir, "main.ts"), "--seeds", "3", "--first", "7"];
  const { stdout, exitCode } = Bun.spawnSync(command, { cwd: root });
  expect(stdout.toString().trimEnd().split("\n").at(-1)).toBe("3 seeds, 3 ended");
  expect(exitCode).toBe(0);
});
