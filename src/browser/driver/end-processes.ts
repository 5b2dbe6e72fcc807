import { readdirSync, readFileSync } from "node:fs";

/**
 * Kills the remains of a browser whose child process died: every process whose command line contains the browser's own folder.
 * Linux only; on other systems the browser ends by itself when its pipe closes.
 */
export function endProcessesOf(folder: string): void {
  for (const pid of processesOf(folder)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended meanwhile.
    }
  }
}

function processesOf(folder: string): number[] {
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return [];
  }
  return names.filter((name) => /^\d+$/.test(name) && commandOf(name).includes(folder)).map(Number);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
