/** A Python with required packages, in a virtual environment of this checkout. */
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder } from "./cache-folder.ts";
import { root } from "./gateway.ts";

const pythonFolder = join(cacheFolder, "python");
const installSecondsMax = 300;

/** The interpreter, or the reason why there is none. */
type FoundPython = { readonly python: string } | { readonly missing: string };

/**
 * Creates the environment, or reuses the one of an earlier run with the same interpreter and versions;
 * `requirementsFile` lists the packages, relative to the repository. A Python without venv, or an unreachable index, is a reason to skip; any other failure of pip throws.
 */
export async function findPython(requirementsFile: string): Promise<FoundPython> {
  const check = "import ensurepip, sys, venv; print(sys.version); assert sys.version_info >= (3, 10)";
  const found = Bun.which("python3") === null ? undefined : await run(["python3", "-c", check]);
  if (found?.code !== 0) return { missing: "there is no python3 of version 3.10 or newer with venv" };
  const requirements = await readFile(join(root, requirementsFile), "utf8");
  const folder = join(pythonFolder, Bun.hash(root + found.output + requirements).toString(36));
  const python = join(folder, "bin/python");
  // Written last: an installation that was interrupted is made again.
  const complete = join(folder, "complete");
  if (existsSync(complete)) return { python };
  await mkdir(pythonFolder, { recursive: true });
  await runOrThrow(["python3", "-m", "venv", "--clear", folder]);
  const install = ["-m", "pip", "install", "--quiet", "--requirement", join(root, requirementsFile)];
  const { code, output } = await run([python, ...install]);
  if (code !== 0 && /from versions: none|Failed to establish a new connection/.test(output)) {
    return { missing: "pip does not reach its index" };
  }
  if (code !== 0) throw new Error(`pip install: ${output}`);
  await writeFile(complete, "");
  return { python };
}

async function runOrThrow(command: string[]): Promise<void> {
  const { code, output } = await run(command);
  if (code !== 0) throw new Error(`${command.join(" ")}: ${output}`);
}

async function run(command: string[]): Promise<{ code: number; output: string }> {
  const child = Bun.spawn(command, {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: installSecondsMax * 1000,
  });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, output: stdout + stderr };
}
