/**
 * `npm run simulate -- [--seeds N] [--first S]`: runs N seeds, from S on, and stops at the first that fails. The last line is
 * `N seeds, N ended`. Exits 1 after a failure, or if a thousand seeds let a pair of events never meet.
 * `npm run simulate -- --seed S`: runs one, and writes what happens.
 */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { nameOf, pairs } from "./kit/meetings.ts";
import { missingPairs, SEEDS_OF_ALL_PAIRS, type Simulated, simulate } from "./simulate.ts";

const root = join(import.meta.dir, "../..");

const { values } = parseArgs({
  options: { seeds: { type: "string" }, first: { type: "string", default: "0" }, seed: { type: "string" } },
});
const isOne = values.seed !== undefined;
const first = Number(values.seed ?? values.first);
const count = isOne ? 1 : Number(values.seeds ?? SEEDS_OF_ALL_PAIRS);
if (!Number.isSafeInteger(first) || first < 0 || !Number.isSafeInteger(count) || count < 1) {
  console.error("usage: npm run simulate -- [--seeds N] [--first S] | --seed S");
  process.exit(2);
}

const began = performance.now();
const processes = isOne ? 1 : Math.min(availableParallelism(), Math.ceil(count / 100));
const result = await simulate({ first, count, processes, root, isTraced: isOne });
const missing = count >= SEEDS_OF_ALL_PAIRS && result.failure === undefined ? missingPairs(result) : [];
report(result);
process.exit(result.failure === undefined && missing.length === 0 ? 0 : 1);

function report({ ended, failure, meetings }: Simulated): void {
  if (!isOne)
    for (const name of pairs.map(nameOf)) console.log(`${String(meetings.get(name) ?? 0).padStart(7)}  ${name}`);
  if (failure !== undefined) {
    console.log(`seed ${failure.seed}: ${failure.finding}`);
    console.log(`repeat it: npm run simulate -- --seed ${failure.seed}`);
  }
  for (const name of missing) console.log(`never met: ${name}`);
  console.log(`${((performance.now() - began) / 1_000).toFixed(1)} s in ${processes} processes`);
  console.log(`${ended + (failure === undefined ? 0 : 1)} seeds, ${ended} ended`);
}
