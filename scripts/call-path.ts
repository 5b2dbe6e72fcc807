/**
 * `bun scripts/call-path.ts`: the lines of `src` that one streamed chat call through `tollgate serve` executes, by file. They
 * are those that Bun's coverage counts more often in a process with four calls than in one with three.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countedLines, moreOften } from "./call-path/counted-lines.ts";

const program = join(import.meta.dir, "call-path/serve-calls.ts");
const folder = mkdtempSync(join(tmpdir(), "tollgate-call-path-"));

async function coverageOf(calls: number): Promise<string> {
  const own = join(folder, String(calls));
  const coverage = ["--coverage", "--coverage-reporter=lcov", `--coverage-dir=${own}`];
  const run = Bun.spawn([process.execPath, "test", "--timeout", "120000", ...coverage, program], {
    cwd: join(import.meta.dir, ".."),
    env: { ...process.env, CALL_PATH_CALLS: String(calls), CALL_PATH_FOLDER: own },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [code, told] = [await run.exited, await new Response(run.stderr).text()];
  if (code !== 0) throw new Error(told);
  return readFileSync(join(own, "lcov.info"), "utf8");
}

try {
  const three = countedLines(await coverageOf(3));
  const path = moreOften(countedLines(await coverageOf(4)), three);
  const files = [...path].toSorted(([, a], [, b]) => b - a);
  for (const [file, lines] of files) console.log(`${String(lines).padStart(5)} ${file}`);
  const total = files.reduce((sum, [, lines]) => sum + lines, 0);
  console.log(`one streamed chat call: ${total} lines in ${files.length} files`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
