/** Programs from npm that tests run as a user would, installed into a folder that all checkouts of a user share. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { cacheFolder } from "./cache-folder.ts";
import { withInstallLock } from "./install-lock.ts";

const installMsMax = 300_000;

/** The folder with the package's commands, or the reason why there is none. */
type FoundClient = { readonly bin: string } | { readonly missing: string };

/**
 * Installs a package of an exact version, such as `@openai/codex@0.171.0`, or finds it. An unreachable registry is a reason to
 * skip; any other failure of npm throws.
 */
export async function findNpmClient(spec: string): Promise<FoundClient> {
  if (Bun.which("npm") === null) return { missing: "there is no npm" };
  const folder = join(cacheFolder, "npm", spec.replaceAll("/", "+"));
  const bin = join(folder, "node_modules/.bin");
  return withInstallLock(`npm-${spec}`, async () => {
    if (existsSync(bin)) return { bin };
    const missing = await create(spec, folder);
    return missing === undefined ? { bin } : { missing };
  });
}

/** Built aside, so that an installation is there whole or not at all. Returns the reason to skip, if there is one. */
async function create(spec: string, folder: string): Promise<string | undefined> {
  await mkdir(dirname(folder), { recursive: true });
  const aside = await mkdtemp(join(cacheFolder, "npm-"));
  try {
    // npm runs the scripts of packages that are named here alone.
    const allowScripts = { [spec.slice(0, spec.lastIndexOf("@"))]: true };
    await writeFile(join(aside, "package.json"), JSON.stringify({ private: true, allowScripts }));
    const failure = await install(spec, aside);
    if (failure === undefined) await rename(aside, folder);
    return failure;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** The reason to skip, if there is one. */
async function install(spec: string, cwd: string): Promise<string | undefined> {
  const child = Bun.spawn(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", spec], {
    cwd,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    timeout: installMsMax,
  });
  const [stderr, code] = await Promise.all([child.stderr.text(), child.exited]);
  if (code === 0) return undefined;
  if (child.signalCode !== null) return `npm install ${spec} took too long`;
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|E404/.test(stderr))
    return "npm does not reach its registry";
  throw new Error(`npm install ${spec}: ${stderr}`);
}
