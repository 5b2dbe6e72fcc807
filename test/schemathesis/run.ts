/**
 * Runs Schemathesis, which derives requests from the published OpenAPI document: valid ones, that must be accepted, and
 * invalid ones, that must be refused. The answers must agree with the document. `violations.json` lists the exceptions.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { cacheFolder } from "../kit/cache-folder.ts";
import { cleanEnvironment, findPython, root, type Gateway, startGateway } from "../kit/index.ts";

const folder = join(root, "test/schemathesis");

const violations = z.array(
  z.strictObject({
    /** The class of the failure in Schemathesis. */
    failure: z.string(),
    /** Patterns of the operation, whole, and of a part of the answer: its status, a blank and its body. */
    operation: z.string(),
    answer: z.string(),
    reason: z.string().min(1),
  }),
);

const report = z.object({
  complete: z.boolean(),
  operations: z.object({ tested: z.number(), errored: z.number(), skipped: z.number() }),
  phases: z.record(z.string(), z.object({ status: z.string() })),
  test_cases: z.object({ generated: z.number(), errored: z.number() }),
  failures: z.array(z.unknown()),
});

interface Options {
  python: string;
  gateway: Gateway;
  /** The file of the OpenAPI document; by default the published one. */
  document?: string;
  seed: number;
  /** The most random requests per operation and phase. */
  examples: number;
  /** Further arguments. */
  more?: readonly string[];
}

interface Result {
  code: number;
  /** For people: the failures with the requests that reproduce them. */
  output: string;
  report: z.output<typeof report>;
  /** The reasons of the listed violations that occurred, once each. */
  accepted: readonly string[];
}

/** The interpreter with Schemathesis, or the reason why there is none. */
export const findSchemathesis = () => findPython("test/schemathesis/requirements.txt");

export const readViolations = async () => violations.parse(await Bun.file(join(folder, "violations.json")).json());

/** A sandbox with its own storage. Its simulators answer for all providers. */
export const startSandbox = () =>
  startGateway({ providers: {}, config: { providers: null, pricing: null }, arguments: ["--sandbox"] });

export async function runSchemathesis(options: Options): Promise<Result> {
  const { python, gateway, document = join(root, "openapi.json"), seed, examples, more = [] } = options;
  const home = await mkdtemp(join(tmpdir(), "tollgate-schemathesis-"));
  const reportFile = join(home, "report.json");
  const acceptedFile = join(home, "accepted");
  const run = ["run", document, "--url", gateway.url, "--seed", `${seed}`, "--max-examples", `${examples}`];
  const settings = ["-m", "schemathesis.cli", "--config-file", join(folder, "schemathesis.toml")];
  const reporting = ["--report", "json", "--report-json-path", reportFile];
  try {
    const child = Bun.spawn([python, ...settings, ...run, ...reporting, ...more], {
      // Hypothesis and Schemathesis leave files in the current folder.
      cwd: home,
      env: {
        ...cleanEnvironment(),
        PYTHONPATH: folder,
        // The repository stays clean, and the next run need not compile the packages.
        PYTHONPYCACHEPREFIX: join(cacheFolder, "python/bytecode"),
        SCHEMATHESIS_HOOKS: "hooks",
        GATEWAY_TOKEN: await gateway.token(),
        ACCEPTED_FILE: acceptedFile,
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    const output = stdout + stderr;
    if (!(await Bun.file(reportFile).exists())) throw new Error(output);
    return {
      code,
      output,
      report: report.parse(await Bun.file(reportFile).json()),
      accepted: await readLines(acceptedFile),
    };
  } finally {
    await rm(home, { recursive: true });
  }
}

async function readLines(path: string): Promise<string[]> {
  const file = Bun.file(path);
  const text = (await file.exists()) ? await file.text() : "";
  return Array.from(new Set(text.split("\n").filter((line) => line !== "")));
}
