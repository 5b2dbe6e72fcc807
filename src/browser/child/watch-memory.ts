/** Ends pages that use too much memory. Linux only: on other systems the browser's own bounds remain. */
import { readdirSync, readFileSync } from "node:fs";

const INTERVAL_MS = 500;

/** Bytes of memory of one of the browser's processes, and of all of them; pages shared between them count once each. */
const PROCESS_BYTES_MAX = 1_536 * 1024 * 1024;
const BROWSER_BYTES_MAX = 3 * 1024 * 1024 * 1024;

const KIBIBYTE = 1_024;

interface Process {
  pid: number;
  parent: number;
  /** Without memory that it shares. */
  bytes: number;
}

export function watchMemory(isBusy: () => boolean): void {
  if (process.platform !== "linux") return;
  setInterval(() => {
    if (isBusy()) endLargest(below(process.pid, readProcesses()));
  }, INTERVAL_MS).unref();
}

/** The page of the process crashes, and the others go on. */
function endLargest(processes: readonly Process[]): void {
  const sum = processes.reduce((total, { bytes }) => total + bytes, 0);
  const [largest] = processes.toSorted((a, b) => b.bytes - a.bytes);
  if (largest === undefined || (largest.bytes <= PROCESS_BYTES_MAX && sum <= BROWSER_BYTES_MAX)) return;
  try {
    process.kill(largest.pid, "SIGKILL");
  } catch {
    // It ended meanwhile.
  }
}

function below(pid: number, all: readonly Process[]): Process[] {
  return all.filter(({ parent }) => parent === pid).flatMap((each) => [each, ...below(each.pid, all)]);
}

function readProcesses(): Process[] {
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []));
}

function readProcess(pid: number): Process | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const numberOf = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);
    return { pid, parent: numberOf("PPid"), bytes: numberOf("RssAnon") * KIBIBYTE };
  } catch {
    // It ended meanwhile.
    return undefined;
  }
}
