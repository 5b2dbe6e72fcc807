/** `npm run schemathesis -- [--examples N] [--seed S] [-- ARGUMENT…]`: exits with 1 after a violation that isn't listed. */
import { parseArgs } from "node:util";
import { findSchemathesis, readViolations, runSchemathesis, startSandbox } from "./run.ts";

const { values, positionals } = parseArgs({
  options: { examples: { type: "string", default: "100" }, seed: { type: "string" } },
  allowPositionals: true,
});

const examples = Number(values.examples);
const seed = values.seed === undefined ? (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) : Number(values.seed);
if (!Number.isSafeInteger(seed) || !(examples >= 1)) {
  console.error("usage: npm run schemathesis -- [--examples N] [--seed S] [-- ARGUMENT…]");
  process.exit(2);
}

const found = await findSchemathesis();
if ("missing" in found) {
  console.error(`Schemathesis cannot run, since ${found.missing}`);
  process.exit(2);
}

const gateway = await startSandbox();
try {
  const result = await runSchemathesis({ python: found.python, gateway, seed, examples, more: positionals });
  console.log(result.output);
  const unseen = (await readViolations()).filter(({ reason }) => !result.accepted.includes(reason));
  console.log(`${result.accepted.length} listed violations occurred`);
  for (const { operation, reason } of unseen) console.log(`  did not occur: ${operation}: ${reason}`);
  console.log(`the seed was ${seed}`);
  process.exitCode = result.code;
} finally {
  await gateway.stop();
}
