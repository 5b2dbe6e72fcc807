import type { Bar } from "../report/bar.ts";
import { count, decimals, markdownTable, milliseconds } from "../report/format.ts";
import type { BesideFigures, SubjectFigures } from "./measure.ts";

const addedMsMax = 5;
const pagesPerSecondMin = 60;

export function besideTable({ crawl, scrapes, peer }: BesideFigures): string {
  const head = ["Chat beside", "p99 alone, ms", "p99 beside, ms", "pages a second", "CPU of a page, ms", "problems"];
  const subjects = "missing" in peer ? [scrapes, crawl] : [scrapes, crawl, peer];
  const rows = subjects.map(({ title, alone, beside, pagesPerSecond, cpuMsOfPage, problem }) => [
    title,
    milliseconds(alone.p99),
    milliseconds(beside.p99),
    decimals(pagesPerSecond, 1),
    decimals(cpuMsOfPage, 1),
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

export function besideBars({ crawl, scrapes }: BesideFigures): Bar[] {
  const beside = [scrapes, crawl].map(({ title, alone, beside: loaded, problem }) => ({
    promise: `other callers' chat p99 beside ${title} at most ${addedMsMax} ms above the same without it`,
    measured: problem ?? `${milliseconds(loaded.p99 - alone.p99)} ms`,
    kept: problem === null && loaded.p99 - alone.p99 <= addedMsMax,
  }));
  const { pagesPerSecond, problem } = crawl;
  return [
    ...beside,
    {
      promise: `a crawl of pages of 20 to 60 KB reads at least ${count(pagesPerSecondMin)} a second`,
      measured: problem ?? decimals(pagesPerSecond, 1),
      kept: problem === null && pagesPerSecond >= pagesPerSecondMin,
    },
  ];
}
