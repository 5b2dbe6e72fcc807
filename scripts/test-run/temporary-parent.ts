import { accessSync, constants, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const memory = "/dev/shm";

/** More than the tests ever have in files at the same time. */
const freeBytesMin = 4 * 1024 ** 3;

/**
 * The folder in which tests make theirs: in memory, where Linux has room for it, since clusters of Postgres are hundreds of
 * small files each and take a third of the time there. Programs must be allowed to run in it: tests install some.
 */
export function temporaryParent(): string {
  return isUsable(memory) ? memory : tmpdir();
}

function isUsable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= freeBytesMin && mayRunPrograms(folder);
  } catch {
    return false;
  }
}

function mayRunPrograms(folder: string): boolean {
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
  const options = mounts.map((line) => line.split(" ")).findLast(([, place]) => place === folder)?.[3];
  return options !== undefined && !options.split(",").includes("noexec");
}
