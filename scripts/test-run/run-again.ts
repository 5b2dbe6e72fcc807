import { runTests, type TestRun, type TestRunOptions } from "./run-tests.ts";

/** A run whose failed files were run once more. */
export interface RepeatedRun extends TestRun {
  /** The files that failed among the others and passed alone: their cause is to be found. */
  readonly flaky: readonly string[];
}

/**
 * Runs each failed file once more, alone, and counts how it came out then. Failures without a file of their own stay. A run
 * in which many files fail has a cause that they share, and is not repeated.
 */
export async function runFailedAgain(run: TestRun, options: TestRunOptions): Promise<RepeatedRun> {
  const failed = [...new Set(run.failures.map(({ file }) => file))].filter((file) => options.files.includes(file));
  if (failed.length > REPEATED_MAX) return { ...run, flaky: [] };
  const runs = new Map<string, TestRun>();
  for (const file of failed) runs.set(file, await runTests({ ...options, files: [file], notesDurations: false }));
  const flaky = failed.filter((file) => runs.get(file)?.tally.failed === 0);
  const failures = run.failures.filter(({ file }) => !flaky.includes(file));
  const mended = run.failures.length - failures.length;
  const { passed, failed: before, skipped } = run.tally;
  return {
    ...run,
    tally: { passed: passed + mended, failed: before - mended, skipped },
    failures,
    output: [run, ...runs.values()].map(({ output }) => output).join(""),
    seconds: [run, ...runs.values()].reduce((sum, { seconds }) => sum + seconds, 0),
    flaky,
  };
}

/** The most files that are run again. */
const REPEATED_MAX = 10;
