import { dlopen, type FFIFunction } from "bun:ffi";

/** The C libraries of Linux, by their ABI names, and that of macOS. */
const libraries =
  process.platform === "linux"
    ? ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]
    : ["libSystem.B.dylib"];

/** Functions of the system's C library; undefined if it has another one. */
export function openLibc<const Functions extends Record<string, FFIFunction>>(functions: Functions) {
  for (const library of libraries) {
    try {
      return dlopen(library, functions).symbols;
    } catch {
      // The next one.
    }
  }
  return undefined;
}
