/** What several test processes install at once is installed by one of them, while the others wait. */
import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "./cache-folder.ts";
import { until } from "./until.ts";

const waitMsMax = 600_000;

/** Does the work while no other process does any of the same name. The lock is the kernel's: it ends with its process. */
export async function withInstallLock<T>(name: string, work: () => Promise<T>): Promise<T> {
  const folder = join(cacheFolder, "locks");
  mkdirSync(folder, { recursive: true });
  using lock = new Database(join(folder, `${name.replaceAll("/", "+")}.db`));
  await until(`the lock of ${name}`, () => isTaken(lock), waitMsMax);
  return await work();
}

function isTaken(lock: Database): boolean {
  try {
    lock.run("BEGIN EXCLUSIVE");
    return true;
  } catch (reason) {
    if (reason instanceof Error && "code" in reason && reason.code === "SQLITE_BUSY") return false;
    throw reason;
  }
}
