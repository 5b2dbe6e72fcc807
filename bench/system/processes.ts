import { readdirSync, readFileSync } from "node:fs";
import { spawnSync } from "node:child_process";

/** Figures of a process and all its descendants, from /proc. */
export interface ProcessUse {
  /** User and system time since the start, ms; the kernel counts in steps of 10 ms. Ended children are included. */
  cpuMs: number;
  /** Resident memory, bytes; pages shared between the processes count in each. */
  residentBytes: number;
}

interface ProcessRow {
  pid: number;
  parent: number;
  cpuTicks: number;
}

function clockTicksASecond(): number {
  const ticks = Number(spawnSync("getconf", ["CLK_TCK"], { encoding: "utf8" }).stdout);
  return ticks > 0 ? ticks : 100;
}

const millisecondsATick = 1000 / clockTicksASecond();

export function useOfTree(root: number): ProcessUse {
  const tree = treeOf(root);
  const cpuTicks = tree.reduce((sum, row) => sum + row.cpuTicks, 0);
  const residentBytes = tree.reduce((sum, row) => sum + residentBytesOf(row.pid), 0);
  return { cpuMs: cpuTicks * millisecondsATick, residentBytes };
}

/** The process and its descendants, parents first; empty when it has gone. */
export function pidsOfTree(root: number): number[] {
  return treeOf(root).map((row) => row.pid);
}

function treeOf(root: number): ProcessRow[] {
  const rows = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => rowOf(Number(name)))
    .filter((row) => row !== null);
  const tree = rows.filter((row) => row.pid === root);
  // The list grows while it is walked, so that grandchildren are found as well.
  for (const parent of tree) tree.push(...rows.filter((row) => row.parent === parent.pid));
  return tree;
}

/** Fields by proc(5): after the name in brackets come state (3), parent (4) … utime (14), stime, cutime, cstime (17). */
function rowOf(pid: number): ProcessRow | null {
  const text = readOrEmpty(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  if (text === "" || fields[0] === "Z") return null;
  const cpuTicks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid, parent: Number(fields[1]), cpuTicks };
}

function residentBytesOf(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB/m.exec(readOrEmpty(`/proc/${pid}/status`))?.[1];
  return Number(kibibytes ?? 0) * 1024;
}

/** A process may end between the listing and the read. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
