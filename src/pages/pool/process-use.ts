import { type ProcessStat, processStat } from "../../core/index.ts";

/** The resources that a process has used. */
export type ProcessUse = Pick<ProcessStat, "residentBytes" | "cpuMs">;

/** The use of a process so far, or undefined if it can't be read (it has ended). */
export async function useOf(pid: number): Promise<ProcessUse | undefined> {
  return process.platform === "linux" ? processStat(pid) : useByPs(pid);
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
