import type { Bar } from "../report/bar.ts";
import { count, decimals, markdownTable, milliseconds } from "../report/format.ts";
import type { BesideFigures, SubjectFigures } from "./measure.ts";

const addedMsMax = 5;
const pagesPerSecondMin = 60;
/** Beside batches. */
const batchMsMax = 3;
const batchGrownMax = 64 * 1_048_576;

export function besideTable({ crawl, scrapes, batch, peer }: BesideFigures): string {
  const head = [
    "Chat beside",
    "p99 alone, ms",
    "p99 beside, ms",
    "pages or lines a second",
    "CPU of one, ms",
    "memory grows by, MiB",
    "problems",
  ];
  const subjects = "missing" in peer ? [scrapes, batch, crawl] : [scrapes, batch, crawl, peer];
  const rows = subjects.map(({ title, alone, beside, pagesPerSecond, cpuMsOfPage, grownBytes, problem }) => [
    title,
    milliseconds(alone.p99),
    milliseconds(beside.p99),
    decimals(pagesPerSecond, 1),
    decimals(cpuMsOfPage, 1),
    decimals(grownBytes / 1_048_576, 0),
    problem ?? "none",
  ]);
  return `${markdownTable(head, rows)}\n\n${comparisonOf(crawl, peer)}\n`;
}

function comparisonOf(crawl: SubjectFigures, peer: BesideFigures["peer"]): string {
  if ("missing" in peer) return `No figures for crawl4ai: ${peer.missing}.`;
  const pages = decimals(crawl.pagesPerSecond / peer.pagesPerSecond, 1);
  const cpu = decimals(peer.cpuMsOfPage / crawl.cpuMsOfPage, 1);
  return `The crawl reads ${pages} × as many pages a second as crawl4ai without a browser, which takes ${cpu} × the CPU a page.`;
}

export function besideBars({ crawl, scrapes, batch }: BesideFigures): Bar[] {
  const beside = [scrapes, crawl].map(({ title, alone, beside: loaded, problem }) => ({
    promise: `other callers' chat p99 beside ${title} at most ${addedMsMax} ms above the same without it`,
    measured: problem ?? `${milliseconds(loaded.p99 - alone.p99)} ms`,
    kept: problem === null && loaded.p99 - alone.p99 <= addedMsMax,
  }));
  const { pagesPerSecond, problem } = crawl;
  const addedMs = batch.beside.p99 - batch.alone.p99;
  return [
    ...beside,
    {
      promise: `other callers' chat p99 beside ${batch.title} at most ${batchMsMax} ms above the same without them`,
      measured: batch.problem ?? `${milliseconds(addedMs)} ms`,
      kept: batch.problem === null && addedMs <= batchMsMax,
    },
    {
      promise: `memory beside ${batch.title} grows by at most ${batchGrownMax / 1_048_576} MiB once they run`,
      measured: batch.problem ?? `${decimals(batch.grownBytes / 1_048_576, 0)} MiB`,
      kept: batch.problem === null && batch.grownBytes <= batchGrownMax,
    },
    {
      promise: `a crawl of pages of 20 to 60 KB reads at least ${count(pagesPerSecondMin)} a second`,
      measured: problem ?? decimals(pagesPerSecond, 1),
      kept: problem === null && pagesPerSecond >= pagesPerSecondMin,
    },
  ];
}
