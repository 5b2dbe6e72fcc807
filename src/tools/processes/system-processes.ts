/** The processes of the machine, as `/proc` has them: only Linux has it. */
import { readdirSync } from "node:fs";
import { openLibc, type ProcessStat, processStat } from "../../core/index.ts";

export interface SystemProcess extends Omit<ProcessStat, "cpuMs"> {
  pid: number;
}

/** How long a list counts as current. */
const CURRENT_MS = 200;

let known: { readAt: number; processes: readonly SystemProcess[] } = { readAt: -Infinity, processes: [] };

/** All processes, as they are or were a moment ago. */
export function systemProcesses(): readonly SystemProcess[] {
  const now = performance.now();
  if (now - known.readAt > CURRENT_MS) known = { readAt: now, processes: readProcesses() };
  return known.processes;
}

function readProcesses(): SystemProcess[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").flatMap((name) => {
    const stat = /^\d+$/.test(name) ? processStat(Number(name)) : undefined;
    return stat === undefined ? [] : [{ ...stat, pid: Number(name) }];
  });
}

/** A process with all that it has started, and those of its group; a session of its own does not lead out of it. */
export function treeOf(root: number, all: readonly SystemProcess[]): SystemProcess[] {
  const childrenOf = Map.groupBy(all, ({ parent }) => parent);
  const tree = new Set(all.filter(({ pid, group }) => pid === root || group === root));
  // The set grows while it is read.
  for (const { pid } of tree) for (const child of childrenOf.get(pid) ?? []) tree.add(child);
  return [...tree];
}

/** Sends a signal to a process and to all that it has started. */
export function signalTree(root: number, signal: "SIGTERM" | "SIGKILL"): void {
  for (const pid of [-root, ...treeOf(root, readProcesses()).map((one) => one.pid)]) send(pid, signal);
}

function send(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // None is left.
  }
}

const WITHOUT_WAITING = 1;

/**
 * Ends the children of this process that it has not started itself: processes whose parent has ended, see `adoptOrphans`. Returns how many
 * there were.
 */
export function endOrphans(own: ReadonlySet<number>): number {
  const orphans = readProcesses().filter(({ pid, parent }) => parent === process.pid && !own.has(pid));
  const libc =
    orphans.length === 0 ? undefined : openLibc({ waitpid: { args: ["i32", "ptr", "i32"], returns: "i32" } });
  for (const { pid } of orphans) {
    signalTree(pid, "SIGKILL");
    // Nobody else takes note of its end.
    libc?.waitpid(pid, null, WITHOUT_WAITING);
  }
  return orphans.length;
}
