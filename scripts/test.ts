/**
 * `npm test [-- PATH…]`: the checks, then all tests, or only the tests under the given paths. The last line is
 * `N passed, N failed` (and `, N skipped`), each check counted as one test. Exits 1 when something failed or nothing ran.
 * `npm test -- --note-durations` also notes how long each file took, for the order of later runs; with `--repeat-failed` a
 * failed file is run once more, alone, and named "flaky" if it passes then.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { checksAtOnce, checkSteps } from "./shared/check-steps.ts";
import { listSources } from "./shared/source-files.ts";
import { printResult, root, runSteps } from "./shared/steps.ts";
import { runFailedAgain } from "./test-run/run-again.ts";
import { runTests, type TestRun } from "./test-run/run-tests.ts";
import { addTallies, summaryLine, type Tally } from "./test-run/tally.ts";

const outputLinesMax = 2000;

async function runChecks(): Promise<Tally> {
  const results = await runSteps(checkSteps, checksAtOnce, printResult);
  const passed = results.filter((result) => result.passed).length;
  return { passed, failed: results.length - passed, skipped: 0 };
}

async function findTests(paths: readonly string[]): Promise<string[]> {
  const wanted = paths.map((path) => relative(root, path));
  const isWanted = (file: string) => wanted.some((path) => path === "" || file === path || file.startsWith(`${path}/`));
  const files = (await listSources(root)).filter((file) => /\.test\.tsx?$/.test(file));
  return paths.length === 0 ? files : files.filter(isWanted);
}

async function runAndReport(files: readonly string[]): Promise<Tally> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-test-"));
  const options = { files, root, folder, notesDurations };
  const first = await runTests(options);
  const run = repeatsFailed ? await runFailedAgain(first, options) : { ...first, flaky: [] };
  console.log(`${run.failures.length === 0 ? "✓" : "✗"} ${files.length} test files (${run.seconds.toFixed(1)} s)`);
  for (const line of run.skipNotes) console.log(`  ${line}`);
  for (const file of run.flaky) console.log(`flaky: ${file}`);
  if (run.failures.length > 0) printFailures(run, folder);
  else await rm(folder, { recursive: true });
  return run.tally;
}

function printFailures({ output, failures }: TestRun, folder: string): void {
  const lines = output.trimEnd().split("\n");
  console.log(lines.slice(-outputLinesMax).join("\n"));
  console.log(`\nfailed (the whole log: ${join(folder, "tests.log")}):`);
  for (const { file, test } of failures) console.log(`  ${file}: ${test}`);
  console.log("");
}

const words = process.argv.slice(2);
const notesDurations = words.includes("--note-durations");
const repeatsFailed = words.includes("--repeat-failed");
const paths = words.filter((word) => !word.startsWith("--"));
const files = await findTests(paths);
if (files.length === 0) console.log(`no test files${paths.length > 0 ? ` under ${paths.join(", ")}` : ""}`);
const checks = paths.length > 0 ? [] : [await runChecks()];
const tests = files.length > 0 ? [await runAndReport(files)] : [];
const total = addTallies(...checks, ...tests);
console.log(summaryLine(total));
process.exitCode = total.failed > 0 || files.length === 0 ? 1 : 0;
