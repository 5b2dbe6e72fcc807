import { readFileSync } from "node:fs";

/**
 * Returns a function that ends this process: it runs `stop` once and exits with its code. SIGINT, SIGTERM and SIGHUP do the
 * same; a second one of the same kind ends the process at once.
 */
export function endOnSignal(stop: () => Promise<number>): () => void {
  let isEnding = false;
  const end = (): void => {
    // Under npx, one Ctrl-C arrives as both signals.
    if (isEnding) return;
    isEnding = true;
    void stop().then((code) => process.exit(code));
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, end);
  if (!ignoresHangUp()) process.once("SIGHUP", end);
  return end;
}

/** Whether this process was started to outlive its terminal, as `nohup` does it. A handler would end that. */
function ignoresHangUp(): boolean {
  try {
    const mask = /^SigIgn:\s*[\da-f]*([\da-f])$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    return mask !== undefined && (Number.parseInt(mask, 16) & 1) === 1;
  } catch {
    // A system without /proc.
    return false;
  }
}
