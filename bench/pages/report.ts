import type { Bar } from "../report/bar.ts";
import { count, decimals, markdownTable, milliseconds } from "../report/format.ts";
import type { PagesFigures } from "./measure.ts";

/** Wall time of a page, by its name, and memory of the gateway with its children. */
const wallMsMax: Readonly<Record<string, number>> = { "50 KB": 40, "200 KB": 100, "5 MB": 2_000 };
const peakBytesMax = 400_000_000;

export function pagesTable({ pages, peakBytes, firstMs, notes }: PagesFigures): string {
  const peers = Object.keys(pages[0]?.peers ?? {});
  const rows = pages.map(({ name, wallMs, cpuMs, peers: measured }) => [
    name,
    milliseconds(wallMs),
    milliseconds(cpuMs),
    ...peers.map((peer) => ratio(measured[peer], cpuMs)),
  ]);
  const table = markdownTable(
    ["Pages as Markdown, main content", "wall p50, ms", "CPU, ms", ...peers.map((peer) => `CPU of ${peer}`)],
    rows,
  );
  const facts = `The first page after a start: ${milliseconds(firstMs)} ms. Memory at most, with the children: ${count(peakBytes / 1e6)} MB.`;
  return `${[table, "", facts, ...notes].join("\n")}\n`;
}

export function pagesBars({ pages, peakBytes }: PagesFigures): Bar[] {
  return [
    ...pages.map(({ name, wallMs }) => ({
      promise: `a page of ${name} is read within ${wallMsMax[name] ?? 0} ms (p50)`,
      measured: `${milliseconds(wallMs)} ms`,
      kept: wallMs < (wallMsMax[name] ?? 0),
    })),
    {
      promise: "a page of 5 MB takes less than 400 MB, children included",
      measured: `${count(peakBytes / 1e6)} MB`,
      kept: peakBytes < peakBytesMax,
    },
  ];
}

function ratio(peer: number | null | undefined, cpuMs: number): string {
  return peer == null ? "–" : `${decimals(peer / cpuMs, 1)} ×`;
}
