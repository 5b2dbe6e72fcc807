import { readFileSync } from "node:fs";

/** A process as the kernel describes it (proc(5), `/proc/<pid>/stat`). */
export interface ProcessStat {
  parent: number;
  group: number;
  /** Since its start, of all its threads. */
  cpuMs: number;
  residentBytes: number;
}

const PAGE_BYTES = 4096;

/** The kernel counts time in hundredths of a second for every program that reads it. */
const TICK_MS = 10;

/** Fields after the name of the program, which may contain anything. */
const [parent, group, userTicks, systemTicks, residentPages] = [1, 2, 11, 12, 21];

/** Undefined if it has ended, or on a system without `/proc`. */
export function processStat(pid: number): ProcessStat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ", residentPages + 1);
    const field = (index: number): number => Number(fields[index] ?? 0);
    return {
      parent: field(parent),
      group: field(group),
      cpuMs: (field(userTicks) + field(systemTicks)) * TICK_MS,
      residentBytes: field(residentPages) * PAGE_BYTES,
    };
  } catch {
    return undefined;
  }
}
