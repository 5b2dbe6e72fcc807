import { closeSync, openSync, readFileSync } from "node:fs";

/** Where the terminal of a process is, if it has one. */
const TERMINAL = "/dev/tty";

/**
 * Handles SIGHUP, which asks for a reload. If it comes because the terminal of this process has gone, it ends the process, unless
 * that was started to outlive its terminal (`nohup`).
 */
export function onHangUp({ reload, end }: { reload: () => void; end: () => void }): void {
  const endsWithTerminal = hasTerminal() && !ignoresHangUp();
  process.on("SIGHUP", () => {
    if (endsWithTerminal && !hasTerminal()) end();
    else reload();
  });
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync(TERMINAL, "r"));
    return true;
  } catch {
    return false;
  }
}

/** Whether this process was started to outlive its terminal, as `nohup` does it. */
function ignoresHangUp(): boolean {
  try {
    const mask = /^SigIgn:\s*[\da-f]*([\da-f])$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    return mask !== undefined && (Number.parseInt(mask, 16) & 1) === 1;
  } catch {
    // A system without /proc.
    return false;
  }
}
