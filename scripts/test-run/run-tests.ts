import { chmod, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { testMsMax } from "../../test/kit/time-limits.ts";
import { temporaryParent } from "./temporary-parent.ts";
import { type TestReport, tallyReport } from "./tally.ts";

export interface TestRun extends TestReport {
  /** The output of the test processes: failures, and the tests' own output. */
  readonly output: string;
  /** The skipped tests with reasons, as the tests printed them: the lines that begin with "skipped: ". */
  readonly skipNotes: readonly string[];
  readonly seconds: number;
}

export interface TestRunOptions {
  /** Test files relative to `root`. */
  readonly files: readonly string[];
  readonly root: string;
  /** A folder for the report and the log. */
  readonly folder: string;
  /** Whether the durations of the files are noted for later runs. */
  readonly notesDurations?: boolean;
}

/**
 * The milliseconds that each file took once. The longest ones are started first, so that the processes end together; a file
 * that is not listed counts as an average one.
 */
const durationsFile = fileURLToPath(new URL("durations.json", import.meta.url));

/** Twice the cores of a small machine: tests wait for time-outs, disks and other processes half of their time. */
const processes = 4;
const runMinutesMax = 30;

/** Runs test files in several processes. A process that dies, or a run that hangs, has failed. */
export async function runTests({ files, root, folder, notesDurations = false }: TestRunOptions): Promise<TestRun> {
  const start = performance.now();
  const reportFile = join(folder, "report.xml");
  const logFile = Bun.file(join(folder, "tests.log"));
  const options = [
    `--parallel=${processes}`,
    // Half a second a file to load the same modules; no test changes what others see.
    "--no-isolate",
    "--no-orphans",
    "--only-failures",
    `--timeout=${testMsMax}`,
    `--timings=${durationsFile}`,
    ...(notesDurations ? ["--update-timings"] : []),
    "--reporter=junit",
    `--reporter-outfile=${reportFile}`,
  ];
  const temporary = await makeTemporaryFolder();
  let code: number;
  try {
    const child = Bun.spawn([process.execPath, "test", ...options, ...files.map((file) => `./${file}`)], {
      cwd: root,
      env: { ...testEnvironment(process.env), TMPDIR: temporary, TOLLGATE_TEST_RUN_FOLDER: temporary },
      stdio: ["ignore", logFile, logFile],
      timeout: runMinutesMax * 60_000,
    });
    code = await child.exited;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  const report = Bun.file(reportFile);
  const xml = (await report.exists()) ? await report.text() : "";
  const seconds = (performance.now() - start) / 1000;
  const output = await logFile.text();
  const skipNotes = output.match(/^skipped: .*$/gm) ?? [];
  return { ...withExitCode(tallyReport(xml, files), code), output, skipNotes, seconds };
}

/** For everything that the tests write. Servers that run as another user must reach their own folders in it. */
async function makeTemporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(temporaryParent(), "tollgate-tests-"));
  await chmod(folder, 0o1777);
  return folder;
}

/** Adds a failure if Bun reports one that is missing from the report, such as an error after a test. */
function withExitCode(report: TestReport, code: number): TestReport {
  if (code === 0 || report.failures.length > 0) return report;
  const failure = { file: "bun test", test: `ended with exit code ${code}, though no test failed` };
  return { tally: { ...report.tally, failed: 1 }, failures: [failure] };
}

/** Tests never see the keys of real providers nor the operator's settings, and open as many fetches as the server may. */
function testEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const kept = Object.entries(environment).filter(([name]) => !/_API_KEY$|^TOLLGATE_/.test(name));
  return { ...Object.fromEntries(kept), CI: "true", BUN_CONFIG_MAX_HTTP_REQUESTS: "65336" };
}
