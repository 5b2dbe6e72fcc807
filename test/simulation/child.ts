/**
 * Runs seeds in a process of its own: `bun child.ts FIRST COUNT [--trace]`. It writes one JSON object a line: each seed
 * before it begins, so that the parent knows which one never ended, and the result of each.
 */
import { writeSync } from "node:fs";
import { openTemplate } from "./kit/world.ts";
import type { ChildMessage } from "./protocol.ts";
import { runSeed } from "./run-seed.ts";

const tell = (message: ChildMessage): void => void writeSync(1, `${JSON.stringify(message)}\n`);

const [first = 0, count = 0] = process.argv.slice(2, 4).map(Number);
const onTrace = process.argv.includes("--trace") ? (line: string) => void writeSync(2, `${line}\n`) : undefined;
const meetings = new Map<string, number>();
let current = first;

function fail(finding: string): never {
  tell({ kind: "failed", seed: current, finding });
  process.exit(1);
}

process.on("unhandledRejection", (reason) => fail(`an unhandled rejection: ${String(reason)}`));

const template = await openTemplate();
for (current = first; current < first + count; current += 1) {
  tell({ kind: "begun", seed: current });
  const { traceHash, meetings: met, finding } = await runSeed({ seed: current, template, onTrace, onSpin: fail });
  if (finding !== undefined) fail(finding);
  for (const [pair, times] of met) meetings.set(pair, (meetings.get(pair) ?? 0) + times);
  tell({ kind: "ended", seed: current, traceHash });
}
tell({ kind: "met", pairs: Object.fromEntries(meetings) });
process.exit(0);
