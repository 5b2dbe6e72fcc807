/** A Python with required packages, in a virtual environment that all checkouts of a user share. */
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { cacheFolder } from "./cache-folder.ts";
import { root } from "./program.ts";
import { withInstallLock } from "./install-lock.ts";

const installSecondsMax = 300;

/** Needs a tenth of pip's time. If it can't be had, pip does it. */
const fastInstaller = "uv==0.13.9";

/** The interpreter, or the reason why there is none. */
type FoundPython = { readonly python: string } | { readonly missing: string };

/**
 * Creates the environment, or reuses the one of an earlier run with the same interpreter and versions;
 * `requirementsFile` lists the packages, relative to the repository. A Python without venv, or an unreachable index, is a reason to skip; any other failure of pip throws.
 */
export async function findPython(requirementsFile: string): Promise<FoundPython> {
  const check = "import ensurepip, sys, venv; print(sys.version, sys.base_prefix); assert sys.version_info >= (3, 10)";
  const found = Bun.which("python3") === null ? undefined : await run(["python3", "-c", check]);
  if (found?.code !== 0) return { missing: "there is no python3 of version 3.10 or newer with venv" };
  const requirements = await readFile(join(root, requirementsFile), "utf8");
  return environment(found.output, requirements, ["--without-pip"], async (python) => {
    const installer = await environment(found.output, fastInstaller, [], async (pip) => {
      await run([pip, "-m", "pip", "install", "--quiet", fastInstaller]);
      return undefined;
    });
    if ("missing" in installer) return installer.missing;
    return install(installer.python, python, join(root, requirementsFile));
  });
}

/** Finds the environment of an interpreter that holds some content, or creates it and lets it be filled. */
async function environment(
  interpreter: string,
  content: string,
  options: readonly string[],
  fill: (python: string) => Promise<string | undefined>,
): Promise<FoundPython> {
  const name = Bun.hash(interpreter + content).toString(36);
  const folder = join(cacheFolder, "python", name);
  const python = join(folder, "bin/python");
  // Written last: an installation that was interrupted is made again.
  const complete = join(folder, "complete");
  return withInstallLock(`python-${name}`, async () => {
    if (existsSync(complete)) return { python };
    await mkdir(dirname(folder), { recursive: true });
    const { code, output } = await run(["python3", "-m", "venv", "--clear", ...options, folder]);
    if (code !== 0) throw new Error(`python3 -m venv: ${output}`);
    const missing = await fill(python);
    if (missing !== undefined) return { missing };
    await writeFile(complete, "");
    return { python };
  });
}

/** Installs into the environment of `python` from outside; returns the reason to skip, if there is one. */
async function install(installer: string, python: string, file: string): Promise<string | undefined> {
  const uv = join(dirname(installer), "uv");
  const fast = ["pip", "install", "--quiet", "--python", python, "--requirement", file];
  if (existsSync(uv) && (await run([uv, ...fast])).code === 0) return undefined;
  await run([python, "-m", "ensurepip"]);
  const { code, output } = await run([python, "-m", "pip", "install", "--quiet", "--requirement", file]);
  if (code !== 0 && /from versions: none|Failed to establish a new connection/.test(output)) {
    return "pip does not reach its index";
  }
  if (code !== 0) throw new Error(`pip install: ${output}`);
  return undefined;
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
