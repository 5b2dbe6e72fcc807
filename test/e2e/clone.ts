/** A copy of this repository like a fresh clone, in its own folder. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "../kit/index.ts";

/** The files of the repository, or of the next commit; no ignored files. */
function repositoryFiles(): string[] {
  const listed = Bun.spawnSync(["git", "ls-files", "-co", "--exclude-standard", "-z"], { cwd: root });
  if (listed.exitCode !== 0) throw new Error(`git ls-files: ${listed.stderr.toString()}`);
  return listed.stdout
    .toString()
    .split("\0")
    .filter((file) => file !== "");
}

export function makeClone(): string {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-clone-"));
  for (const file of repositoryFiles()) {
    // A file that is deleted but not yet committed as such is still listed.
    if (!existsSync(join(root, file))) continue;
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file), { verbatimSymlinks: true });
  }
  return folder;
}

interface Lock {
  packages: Record<string, { dev?: boolean }>;
}

/** Puts the packages that `npm ci --omit=dev` would install into the clone, as links to those that are here. */
export function linkPackages(clone: string): void {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as Lock;
  const own = Object.entries(packages).filter(
    ([path, { dev }]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && dev !== true,
  );
  for (const [path] of own) {
    if (!existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    symlinkSync(join(root, path), join(clone, path));
  }
  cpSync(join(root, "node_modules/.package-lock.json"), join(clone, "node_modules/.package-lock.json"));
}
