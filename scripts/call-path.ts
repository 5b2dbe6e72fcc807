/**
 * `bun scripts/call-path.ts`: the lines of `src` that one streamed chat call through `tollgate serve` executes, by file;
 * `--lines` prints them. They are those that Bun's coverage counts more often in a process with four calls than in one with
 * three, without those of its timers, which a process executes more often that is idle for longer, and without constants of numbers and
 * texts: Bun puts their values into the lines that use them, and counts the line of the declaration too.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Counted, countedLines, moreOften, without, withoutConstants } from "./call-path/counted-lines.ts";

const program = join(import.meta.dir, "call-path/serve-calls.ts");
/** Longer than the interval of most timers. */
const longerMs = 6_000;
const folder = mkdtempSync(join(tmpdir(), "tollgate-call-path-"));

async function coverageOf(calls: number, idleMs = 0): Promise<Counted> {
  const own = join(folder, `${calls}-${idleMs}`);
  const coverage = ["--coverage", "--coverage-reporter=lcov", `--coverage-dir=${own}`];
  const run = Bun.spawn([process.execPath, "test", "--timeout", "120000", ...coverage, program], {
    cwd: join(import.meta.dir, ".."),
    env: { ...process.env, CALL_PATH_CALLS: String(calls), CALL_PATH_IDLE_MS: String(idleMs), CALL_PATH_FOLDER: own },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [code, told] = [await run.exited, await new Response(run.stderr).text()];
  if (code !== 0) throw new Error(told);
  return countedLines(readFileSync(join(own, "lcov.info"), "utf8"));
}

const linesOf = (file: string): string[] => readFileSync(join(import.meta.dir, "..", file), "utf8").split("\n");

function printLines(file: string, numbers: readonly number[]): void {
  const lines = linesOf(file);
  for (const each of numbers) console.log(`${String(each).padStart(11)} ${lines[each - 1]}`);
}

try {
  const three = await coverageOf(3);
  const timers = moreOften(await coverageOf(3, longerMs), three);
  const path = withoutConstants(without(moreOften(await coverageOf(4), three), timers), linesOf);
  const files = [...path].toSorted(([, a], [, b]) => b.length - a.length);
  for (const [file, lines] of files) {
    console.log(`${String(lines.length).padStart(5)} ${file}`);
    if (process.argv.includes("--lines")) printLines(file, lines);
  }
  const total = files.reduce((sum, [, lines]) => sum + lines.length, 0);
  console.log(`one streamed chat call: ${total} lines in ${files.length} files`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
