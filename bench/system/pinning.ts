import { readFileSync } from "node:fs";

/** Which cores the proxy under test and everything else run on. */
export interface Pinning {
  /** Null if pinning is off or impossible. */
  proxyCore: number | null;
  otherCores: number[];
  /** For the report. */
  description: string;
}

function unpinned(why: string): Pinning {
  return { proxyCore: null, otherCores: [], description: `not pinned: ${why}` };
}

/** The last core for the proxy under test, the others for the upstream and the load generator. */
export function choosePinning(wanted: boolean): Pinning {
  if (!wanted) return unpinned("switched off");
  if (Bun.which("taskset") === null) return unpinned("taskset is not installed");
  const cores = allowedCores();
  const proxyCore = cores.pop();
  if (proxyCore === undefined || cores.length === 0) return unpinned("this machine has one core");
  const others = cores.join(", ");
  const description =
    `each proxy alone on core ${proxyCore}, upstream and load generator on core ${others}; ` +
    `in the direct column the upstream stands on core ${proxyCore}, in the proxy's place`;
  return { proxyCore, otherCores: cores, description };
}

export function onCores(cores: readonly number[], command: readonly string[]): string[] {
  return cores.length === 0 ? [...command] : ["taskset", "-c", cores.join(","), ...command];
}

export function onProxyCore(pinning: Pinning, command: readonly string[]): string[] {
  return onCores(pinning.proxyCore === null ? [] : [pinning.proxyCore], command);
}

/** Moves a running process with all its threads. Throws when the kernel refuses. */
export function moveToCores(pid: number, cores: readonly number[]): void {
  if (cores.length === 0) return;
  const moved = Bun.spawnSync(["taskset", "-a", "-c", "-p", cores.join(","), String(pid)]);
  if (moved.exitCode !== 0) throw new Error(`taskset failed: ${moved.stderr.toString().trim()}`);
}

function allowedCores(): number[] {
  const status = readFileSync("/proc/self/status", "utf8");
  const list = /^Cpus_allowed_list:\s+(\S+)/m.exec(status)?.[1] ?? "";
  return list.split(",").flatMap(coresOfRange);
}

function coresOfRange(range: string): number[] {
  const [first = 0, last = first] = range.split("-").map(Number);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
