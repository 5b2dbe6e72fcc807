import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
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
  const residentBytes = tree.reduce((sum, row) => sum + statusBytesOf(row.pid, "VmRSS"), 0);
  return { cpuMs: cpuTicks * millisecondsATick, residentBytes };
}

/** The most resident memory of a process and its descendants since the last call of `resetPeak`, bytes. */
export function peakBytesOfTree(root: number): number {
  return treeOf(root).reduce((sum, row) => sum + statusBytesOf(row.pid, "VmHWM"), 0);
}

/**
 * What the processes count more than once, bytes: all but the largest share of pages of files. A process and the children
 * that run the same program have the program's pages in common.
 */
export function sharedBytesOfTree(root: number): number {
  const ofFiles = treeOf(root).map((row) => statusBytesOf(row.pid, "RssFile"));
  return ofFiles.reduce((sum, bytes) => sum + bytes, 0) - Math.max(0, ...ofFiles);
}

/** Resets the peaks. A kernel without this function keeps them: the figures are then too high, never too low. */
export function resetPeak(root: number): void {
  for (const { pid } of treeOf(root)) {
    try {
      writeFileSync(`/proc/${pid}/clear_refs`, "5");
    } catch {
      // See above.
    }
  }
}

/** Files within a folder that a process or a descendant keeps open, those that have been deleted included. */
export function openFilesWithin(root: number, folder: string): number {
  const links = treeOf(root).flatMap(({ pid }) =>
    openFilesOf(pid).map((descriptor) => linkOrEmpty(`/proc/${pid}/fd/${descriptor}`)),
  );
  return links.filter((link) => link.startsWith(`${folder}/`)).length;
}

/** The process and its descendants, parents first; empty if it has exited. */
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

/** `VmRSS` is the resident memory, `VmHWM` its peak, `RssFile` its part that comes from files. */
function statusBytesOf(pid: number, field: "VmRSS" | "VmHWM" | "RssFile"): number {
  const status = readOrEmpty(`/proc/${pid}/status`);
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1];
  return Number(kibibytes ?? 0) * 1024;
}

function openFilesOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch {
    return [];
  }
}

function linkOrEmpty(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

/** A process may end between the listing and the read. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
