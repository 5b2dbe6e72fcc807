import { readFileSync } from "node:fs";

/** The resources that a process has used. */
export interface ProcessUse {
  residentBytes: number;
  /** Since its start, of all its threads. */
  cpuMs: number;
}

const pageBytes = 4096;

/** The kernel counts time in hundredths of a second for every program that reads it. */
const tickMs = 10;

/** Fields of `/proc/<pid>/stat` after the name of the program, which may contain anything: user and system time, resident pages. */
const [userTicks, systemTicks, residentPages] = [11, 12, 21];

/** The use of a process so far, or undefined if it can't be read (it has ended). */
export async function useOf(pid: number): Promise<ProcessUse | undefined> {
  return process.platform === "linux" ? useOnLinux(pid) : useByPs(pid);
}

function useOnLinux(pid: number): ProcessUse | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const cpuMs = ((fields[userTicks] ?? 0) + (fields[systemTicks] ?? 0)) * tickMs;
    return { residentBytes: (fields[residentPages] ?? 0) * pageBytes, cpuMs };
  } catch {
    return undefined;
  }
}

async function useByPs(pid: number): Promise<ProcessUse | undefined> {
  const child = Bun.spawn(["ps", "-o", "rss=,time=", "-p", String(pid)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const [, kibibytes, time] = /^\s*(\d+)\s+([\d:.]+)/.exec(await child.stdout.text()) ?? [];
  if (kibibytes === undefined || time === undefined) return undefined;
  const seconds = time.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  return { residentBytes: Number(kibibytes) * 1024, cpuMs: seconds * 1_000 };
}
