import type { Bar } from "../report/bar.ts";
import { count, decimals, markdownTable, milliseconds } from "../report/format.ts";
import type { ConsoleFigures, PageFigure } from "./measure.ts";

const firstQueryMsMax = 100;
const yearMsMax = 300;

/** How much later the slowest of a hundred chat calls may be answered beside open pages. */
const addedMsMax: Readonly<Record<string, number>> = { SQLite: 2, Postgres: 1 };

export function consoleTable(figures: readonly ConsoleFigures[]): string {
  const head = [
    `The console, ${count(figures[0]?.calls ?? 0)} calls in the books, ms`,
    ...figures.map(({ store }) => store),
  ];
  const row = (title: string, read: (each: ConsoleFigures) => string): string[] => [title, ...figures.map(read)];
  const titles = figures[0]?.pages.map(({ title }) => title) ?? [];
  const rows = [
    ...titles.map((title) => row(`${title}: the first time, then`, ({ pages }) => timesOf(pages, title))),
    row("chat alone: p50, p99", ({ alone }) => `${milliseconds(alone.p50)}, ${milliseconds(alone.p99)}`),
    row("chat beside open pages: p50, p99", ({ beside }) => `${milliseconds(beside.p50)}, ${milliseconds(beside.p99)}`),
    row("added p99", ({ addedP99 }) => milliseconds(addedP99)),
    row("requests of the open pages a second", ({ requestsPerSecond }) => decimals(requestsPerSecond, 1)),
    row("problems", ({ problem }) => problem ?? "none"),
  ];
  return `${markdownTable(head, rows)}\n`;
}

function timesOf(pages: readonly PageFigure[], wanted: string): string {
  const { firstMs = Number.NaN, ms = Number.NaN } = pages.find(({ title }) => title === wanted) ?? {};
  return `${milliseconds(firstMs)}, ${milliseconds(ms)}`;
}

const isOfYear = ({ title }: PageFigure): boolean => title.startsWith("Spend of a year");

export function consoleBars(figures: readonly ConsoleFigures[]): Bar[] {
  return figures.flatMap(({ store, pages, addedP99, problem }) => {
    const addedMax = addedMsMax[store] ?? 0;
    const slowest = (title: string, shown: readonly PageFigure[], most: number): Bar => {
      const page = shown.reduce((slow, each) => (each.ms > slow.ms ? each : slow), { title: "none", ms: 0 });
      return {
        promise: `${title} on ${store} in under ${most} ms`,
        measured: problem ?? `${milliseconds(page.ms)} ms (${page.title})`,
        kept: problem === null && page.ms < most,
      };
    };
    return [
      slowest(
        "console: the first requests of every page",
        pages.filter((page) => !isOfYear(page)),
        firstQueryMsMax,
      ),
      slowest("console: Spend of a year", pages.filter(isOfYear), yearMsMax),
      {
        promise: `console: chat p99 beside open pages less than ${addedMax} ms above the same without them on ${store}`,
        measured: problem ?? `${milliseconds(addedP99)} ms`,
        kept: problem === null && addedP99 < addedMax,
      },
    ];
  });
}
