import { join } from "node:path";

/** One named command of the repository's own checks. */
export interface Step {
  readonly name: string;
  /** The program and its arguments; a bare program name is looked for in node_modules/.bin first. */
  readonly command: readonly string[];
}

export interface StepResult {
  readonly name: string;
  readonly passed: boolean;
  readonly seconds: number;
  /** The command's stdout and stderr in the order written. */
  readonly output: string;
}

export const root = join(import.meta.dir, "..", "..");

/** Bun itself and the tools of node_modules, wherever the caller's PATH leads. */
const path = [join(root, "node_modules", ".bin"), process.env["PATH"]].join(":");

const stepMinutesMax = 10;

/** Runs a command in the repository's root. Never throws: a command that cannot be started has failed. */
async function runStep({ name, command }: Step): Promise<StepResult> {
  const start = performance.now();
  const { passed, output } = await runCommand(command).catch((error: unknown) => {
    return { passed: false, output: `cannot run ${command.join(" ")}: ${String(error)}` };
  });
  return { name, passed, seconds: (performance.now() - start) / 1000, output };
}

async function runCommand(command: readonly string[]): Promise<{ passed: boolean; output: string }> {
  const [program = "", ...rest] = command;
  const executable = program === "bun" ? process.execPath : (Bun.which(program, { PATH: path }) ?? program);
  const child = Bun.spawn([executable, ...rest], {
    cwd: root,
    env: { ...process.env, PATH: path },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: stepMinutesMax * 60_000,
  });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const ending = child.signalCode === null ? "" : `ended by ${child.signalCode}\n`;
  return { passed: code === 0, output: stdout + stderr + ending };
}

/** Runs steps side by side, as many as `parallel` at once, and reports each as it ends. */
export async function runSteps(
  steps: readonly Step[],
  parallel: number,
  report: (result: StepResult) => void,
): Promise<StepResult[]> {
  const results: StepResult[] = [];
  const queue = steps.values();
  const work = async () => {
    for (const step of queue) {
      const result = await runStep(step);
      results.push(result);
      report(result);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return results;
}

/** One line for a passed step; its output too for a failed one. */
export function printResult({ name, passed, seconds, output }: StepResult): void {
  console.log(`${passed ? "✓" : "✗"} ${name} (${seconds.toFixed(1)} s)`);
  if (!passed) console.log(output.trimEnd().replaceAll(/^/gm, "    "));
}
