import { readFileSync } from "node:fs";

const pageBytes = 4096;

/** The resident memory of a process in bytes, or undefined where it can't be read (it has ended). */
export async function residentBytes(pid: number): Promise<number | undefined> {
  return process.platform === "linux" ? residentOnLinux(pid) : residentByPs(pid);
}

function residentOnLinux(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]) * pageBytes;
  } catch {
    return undefined;
  }
}

async function residentByPs(pid: number): Promise<number | undefined> {
  const child = Bun.spawn(["ps", "-o", "rss=", "-p", String(pid)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const kibibytes = Number.parseInt(await child.stdout.text(), 10);
  return Number.isNaN(kibibytes) ? undefined : kibibytes * 1024;
}
