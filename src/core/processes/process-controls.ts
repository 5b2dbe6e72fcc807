import { openLibc } from "./libc.ts";

/** From <linux/prctl.h> and <signal.h>. */
const PR_SET_PDEATHSIG = 1;
const PR_SET_DUMPABLE = 4;
const PR_SET_CHILD_SUBREAPER = 36;
const PR_SET_NO_NEW_PRIVS = 38;
const SIGKILL = 9n;

/** Only Linux has these; on other systems nothing happens. */
function control(option: number, value: bigint): void {
  if (process.platform !== "linux") return;
  const args = ["i32", "u64", "u64", "u64", "u64"] as const;
  openLibc({ prctl: { args, returns: "i32" } })?.prctl(option, value, 0n, 0n, 0n);
}

/**
 * Linux ends this process when the one that started it ends, however it does, also while it works. It stays so for a program that
 * replaces this one. On other systems only the end of the input ends it. A process that changes its user calls this after it.
 */
export function endWithParent(): void {
  control(PR_SET_PDEATHSIG, SIGKILL);
}

/**
 * Other processes of the same user can neither read the memory and the variables of this one nor trace it. A program that replaces
 * this one is as any other.
 */
export function hideFromOthers(): void {
  control(PR_SET_DUMPABLE, 0n);
}

/** Processes whose parent has ended become children of this one, if it is above them. */
export function adoptOrphans(): void {
  control(PR_SET_CHILD_SUBREAPER, 1n);
}

/** This process and all that it starts can't get the rights of another user by a program's file (`sudo`). */
export function gainNoRights(): void {
  control(PR_SET_NO_NEW_PRIVS, 1n);
}
