import { openLibc } from "./libc.ts";

/** From <linux/prctl.h> and <signal.h>. */
const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9n;

/**
 * Linux ends this process when the one that started it ends, however it does, also while it works. It stays so for a program that
 * replaces this one. On other systems only the end of the input ends it. A process that changes its user calls this after it.
 */
export function endWithParent(): void {
  if (process.platform !== "linux") return;
  openLibc({ prctl: { args: ["i32", "u64"], returns: "i32" } })?.prctl(PR_SET_PDEATHSIG, SIGKILL);
}
