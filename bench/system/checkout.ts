import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, join, resolve } from "node:path";

/** A checkout of Tollgate that can be started. */
export interface Checkout {
  /** Path of its launcher. */
  launcher: string;
  /** Its commit, for the report. */
  name: string;
}

export interface CheckoutRequest {
  /** The folder of a checkout with its packages installed, or a git revision of the checkout in `root`. */
  what: string;
  root: string;
  /** The folder for an unpacked revision; its owner removes it. */
  directory: string;
}

/** Throws an Error with a line for the user if `what` names nothing that can be started. */
export function openCheckout({ what, root, directory }: CheckoutRequest): Checkout {
  if (existsSync(launcherOf(what))) return { launcher: launcherOf(resolve(what)), name: commitOf(what) };
  const found = run(["git", "-C", root, "rev-parse", "--verify", "--quiet", "--short", `${what}^{commit}`]);
  const commit = found.said.trim();
  if (!found.ok) throw new Error(`--against: "${what}" is neither a folder with bin/tollgate nor a git revision`);
  const folder = join(directory, `tollgate-${commit}`);
  unpack({ what: commit, root, directory: folder });
  addPackages(folder, root);
  return { launcher: launcherOf(folder), name: commit };
}

/** The commit of a folder, with `-dirty` if files differ from it; the folder's own name without git. */
export function commitOf(folder: string): string {
  const described = run(["git", "-C", folder, "describe", "--always", "--dirty", "--exclude=*"]);
  return described.ok ? described.said.trim() : basename(resolve(folder));
}

function launcherOf(folder: string): string {
  return join(folder, "bin", "tollgate");
}

/** An archive, not a git worktree, which would leave an entry in the repository when the benchmark is killed. */
function unpack({ what, root, directory }: CheckoutRequest): void {
  mkdirSync(directory);
  const archive = `${directory}.tar`;
  runOrThrow(["git", "-C", root, "archive", "--format=tar", `--output=${archive}`, what]);
  runOrThrow(["tar", "-xf", archive, "-C", directory]);
  if (!existsSync(launcherOf(directory))) throw new Error(`--against: ${what} has no bin/tollgate`);
}

function lockOf(checkout: string): string {
  return readFileSync(join(checkout, "package-lock.json"), "utf8");
}

/** The same lock file means the same packages, so those of `root` serve both; otherwise it installs its own. */
function addPackages(folder: string, root: string): void {
  const packages = join(root, "node_modules");
  if (existsSync(packages) && lockOf(folder) === lockOf(root)) symlinkSync(packages, join(folder, "node_modules"));
  else runOrThrow(["npm", "ci", "--omit=dev", "--no-audit", "--no-fund"], folder);
}

function run(command: string[], cwd?: string): { ok: boolean; said: string; complaint: string } {
  const ended = Bun.spawnSync(command, { ...(cwd === undefined ? {} : { cwd }), stdin: "ignore" });
  return { ok: ended.exitCode === 0, said: ended.stdout.toString(), complaint: ended.stderr.toString() };
}

function runOrThrow(command: string[], cwd?: string): void {
  const { ok, complaint } = run(command, cwd);
  if (!ok) throw new Error(`${command.slice(0, 2).join(" ")} failed: ${complaint.trim().slice(-1_000)}`);
}
