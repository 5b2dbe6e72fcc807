/** The kernel's information about processes (Linux's /proc). */
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Whether this system provides the information that these functions read. */
export const hasProc = existsSync("/proc/self/stat");

interface Status {
  pid: number;
  parent: number;
  state: string;
  /** The command line, its words joined by spaces. */
  command: string;
}

function statusOf(pid: number): Status | undefined {
  try {
    // The name, in brackets, may itself hold anything.
    const [state = "", parent = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return { pid, parent: Number(parent), state, command };
  } catch {
    return undefined;
  }
}

/** The processes below `pid`, itself included, dead ones left out. */
export function processTree(pid: number): Status[] {
  const all = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (statusOf(Number(name)) ?? []) : []));
  const below = (parent: number): Status[] =>
    all.flatMap((status) => (status.parent === parent ? [status, ...below(status.pid)] : []));
  return [...all.filter((status) => status.pid === pid), ...below(pid)].filter((status) => status.state !== "Z");
}

export function isAlive(pid: number): boolean {
  const status = statusOf(pid);
  return status !== undefined && status.state !== "Z";
}

/** Resident memory in mebibytes; zero of a process that has ended. */
export function residentMebibytes(pid: number): number {
  const [, kibibytes = 0] = /^VmRSS:\s+(\d+) kB$/m.exec(statusFileOf(pid)) ?? [];
  return Number(kibibytes) / 1024;
}

function statusFileOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}

/** The number of files within a folder that a process has open, including those without a name; zero without /proc. */
export function openFilesIn(folder: string, pid: number): number {
  if (!hasProc) return 0;
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => targetOf(pid, fd).startsWith(folder)).length;
}

function targetOf(pid: number, fd: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    // Closed meanwhile.
    return "";
  }
}
