/** `npm run fuzz -- [--minutes N] [--seed S] [TARGET…]`: tries every target in turn, and exits with 1 after a finding. */
import { parseArgs } from "node:util";
import { targets } from "./targets.ts";

/** Each target's share of one round. */
const ROUND_MS = 10_000;

const { values, positionals } = parseArgs({
  options: { minutes: { type: "string", default: "1" }, seed: { type: "string" } },
  allowPositionals: true,
});

const names = targets.map(({ name }) => name);
const unknown = positionals.find((name) => !names.includes(name));
const minutes = Number(values.minutes);
const firstSeed = values.seed === undefined ? (crypto.getRandomValues(new Int32Array(1))[0] ?? 0) : Number(values.seed);
if (unknown !== undefined || !(minutes > 0) || !Number.isSafeInteger(firstSeed)) {
  console.error(`usage: npm run fuzz -- [--minutes N] [--seed S] [${names.join("|")} ...]`);
  process.exit(2);
}

const chosen = targets.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const until = performance.now() + minutes * 60_000;
const runs = new Map<string, number>();
const failed = new Set<string>();

for (let seed = firstSeed; performance.now() < until && failed.size < chosen.length; seed = (seed + 1) | 0) {
  for (const { name, check } of chosen) {
    const remaining = until - performance.now();
    if (failed.has(name) || remaining <= 0) continue;
    const budget = { numRuns: Number.MAX_SAFE_INTEGER, seed, interruptAfterTimeLimit: Math.min(ROUND_MS, remaining) };
    const report = await check(budget);
    runs.set(name, (runs.get(name) ?? 0) + report.runs);
    if (report.failure === undefined) continue;
    failed.add(name);
    console.error(`${name}, seed ${report.seed}:\n${report.failure}\n`);
  }
}

for (const [name, count] of runs)
  console.log(`${name}: ${count} runs, ${failed.has(name) ? "a finding" : "no finding"}`);
console.log(`the first seed was ${firstSeed}`);
process.exit(failed.size === 0 ? 0 : 1);
