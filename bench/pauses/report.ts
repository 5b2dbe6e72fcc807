import type { Bar } from "../report/bar.ts";
import { count, markdownTable, milliseconds } from "../report/format.ts";
import type { PausesFigures } from "./measure.ts";

const kilobytes = (bytes: number): string => count(bytes / 1e3);

/** The thread that answers calls may be held this long. */
const stretchMsMax = 2;

export function pausesTable({ calls, idle, lists }: PausesFigures): string {
  const rows = lists.map(({ path, bytes, ms, median, longest }) => [
    path,
    kilobytes(bytes),
    milliseconds(ms),
    milliseconds(median),
    milliseconds(longest),
  ]);
  const head = [
    `Lists beside ${count(calls)} calls on SQLite, ms`,
    "answer, KB",
    "median",
    "stretch of the thread, median",
    "longest of 20",
  ];
  return `${markdownTable(head, [["none", "–", "–", "–", milliseconds(idle)], ...rows])}\n`;
}

export function pausesBars({ lists }: PausesFigures): Bar[] {
  const [slowest] = lists.toSorted((one, other) => other.median - one.median);
  const measured = slowest === undefined ? "none" : `${milliseconds(slowest.median)} ms (${slowest.path})`;
  return [
    {
      promise: `pauses: no list holds the thread that answers calls for over ${stretchMsMax} ms`,
      measured,
      kept: slowest !== undefined && slowest.median <= stretchMsMax,
    },
  ];
}
