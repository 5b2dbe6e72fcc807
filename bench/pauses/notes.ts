import { readFileSync } from "node:fs";

/** The variable with the file of the notes. */
export const pausesFileVariable = "TOLLGATE_BENCH_PAUSES";

/** A note is written this often. */
export const noteMs = 50;

/** The longest stretch that was noted between two moments, in milliseconds. */
export function longestBetween(file: string, from: number, to: number): number {
  const notes = readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" ").map(Number));
  const within = notes.filter(([at = 0]) => at >= from && at <= to);
  return Math.max(0, ...within.map(([, longest = 0]) => longest));
}
