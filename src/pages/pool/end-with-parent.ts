import { dlopen } from "bun:ffi";

/** The C libraries of Linux, by their ABI names. */
const libraries = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

/** From <linux/prctl.h> and <signal.h>. */
const PR_SET_PDEATHSIG = 1;
const SIGKILL = 9n;

/**
 * Linux ends this process when the one that started it ends, however it does, also while a document is being read. On other systems
 * the end of the input does, after that document. A process that changes its user calls this after it.
 */
export function endWithParent(): void {
  if (process.platform !== "linux") return;
  for (const library of libraries) {
    try {
      const { symbols } = dlopen(library, { prctl: { args: ["i32", "u64"], returns: "i32" } });
      symbols.prctl(PR_SET_PDEATHSIG, SIGKILL);
      return;
    } catch {
      // It has another C library.
    }
  }
}
