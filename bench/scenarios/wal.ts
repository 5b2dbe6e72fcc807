import { statSync } from "node:fs";
import type { RunningProxy } from "../proxies/index.ts";

/** A bar: however long it runs, a gateway on SQLite keeps its write-ahead log shorter. */
export const walBytesMax = 64e6;

/**
 * The size of SQLite's write-ahead log. Its file does not shrink, so this is the most it has been since the start. NaN
 * without such a file.
 */
export function walBytesOf(running: RunningProxy | null): number {
  const stateFile = running?.stateFile ?? null;
  if (stateFile === null) return Number.NaN;
  return statSync(`${stateFile}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
