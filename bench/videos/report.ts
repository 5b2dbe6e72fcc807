import type { Bar } from "../report/bar.ts";
import { count, markdownTable, milliseconds } from "../report/format.ts";
import type { VideoFigures } from "./measure.ts";

const megabytes = (bytes: number): string => `${count(bytes / 1e6)} MB`;

/** The lateness of a job's look-up, and the memory of a download. */
const latenessMsMax = 5_000;
const downloadBytesMax = 64_000_000;

export function videosTable({ jobs, lateness, questions, overlapping, download, problem }: VideoFigures): string {
  const { p50, p99, max } = lateness;
  const rows = [
    ["lateness of a look-up, p50, p99, max, ms", [p50, p99, max].map(milliseconds).join(", ")],
    ["look-ups", count(questions)],
    ["look-ups of a job at the same time", count(overlapping)],
    [
      `a download of ${count(download.megabytes)} MB in ${download.seconds.toFixed(0)} s: memory before, at most`,
      `${megabytes(download.memoryBefore)}, ${megabytes(download.memoryMax)}`,
    ],
    ["problems", problem ?? "none"],
  ];
  return `${markdownTable([`${count(jobs)} open video jobs on two nodes`, "Postgres"], rows)}\n`;
}

export function videosBars({ lateness, overlapping, download, problem }: VideoFigures): Bar[] {
  const grown = download.memoryMax - download.memoryBefore;
  return [
    {
      promise: "10,000 open video jobs are looked up within 5 s of their time (p99), none twice at a time",
      measured: problem ?? `${milliseconds(lateness.p99)} ms, ${overlapping} twice`,
      kept: problem === null && lateness.p99 < latenessMsMax && overlapping === 0,
    },
    {
      promise: "a download to a slow client takes less than 64 MB of memory",
      measured: megabytes(grown),
      kept: grown < downloadBytesMax,
    },
  ];
}
