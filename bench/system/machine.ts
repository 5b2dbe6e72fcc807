import { readFileSync, statfsSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";

/** One line about the machine, for the head of the report. */
export function describeMachine(directory: string): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${model}, ${gibibytes} GiB, Linux ${release()}, temporary files on ${fileSystem(directory)}`;
}

/** The ledger's file system determines the cost of a durable commit. Magic numbers by statfs(2). */
function fileSystem(directory: string): string {
  const names: Record<number, string> = {
    0x01021994: "tmpfs (memory)",
    0xef53: "ext4",
    0x58465342: "xfs",
    0x9123683e: "btrfs",
    0x794c7630: "overlayfs",
  };
  const { type } = statfsSync(directory);
  return names[type] ?? `a file system of type 0x${type.toString(16)}`;
}

/** Milliseconds that all cores of the machine have been busy since it started, stolen time included. */
export function machineBusyMs(): number {
  const fields = /^cpu\s+(.+)$/m.exec(readFileSync("/proc/stat", "utf8"))?.[1]?.split(" ").map(Number) ?? [];
  const [user = 0, nice = 0, system = 0, , , interrupts = 0, softInterrupts = 0, stolen = 0] = fields;
  return (user + nice + system + interrupts + softInterrupts + stolen) * 10;
}
