import type { Bar } from "../report/bar.ts";
import { count, markdownTable, milliseconds } from "../report/format.ts";
import type { ExportFigure } from "./exports.ts";
import type { GrowthFigures } from "./measure.ts";

const megabytes = (bytes: number): string => `${count(bytes / 1e6)} MB`;
const seconds = (value: number): string => `${value.toFixed(1)} s`;

/** One column a store. */
export function growthTable(figures: readonly GrowthFigures[]): string {
  const head = [`Books with ${count(figures[0]?.calls ?? 0)} calls in a year`, ...figures.map(({ store }) => store)];
  const row = (title: string, read: (each: GrowthFigures) => string): string[] => [title, ...figures.map(read)];
  const titles = figures[0]?.usage.map(({ title }) => title) ?? [];
  const rows = [
    ...titles.map((title) =>
      row(`usage of ${title}, ms`, ({ usage }) => milliseconds(usage.find((each) => each.title === title)?.ms ?? 0)),
    ),
    row("slowest first page of a list of the admin API, ms", ({ lists }) => milliseconds(slowestOf(lists).ms)),
    ...(figures[0]?.exports ?? []).map(({ title }) =>
      row(`export of ${title}`, ({ exports }) => exportText(exports, title)),
    ),
    row("audit of everything", (each) => seconds(each.auditSeconds)),
    row("seal of eleven months", (each) => seconds(each.sealSeconds)),
    row("audit after it", (each) => seconds(each.sealedAuditSeconds)),
    row("export of eleven months", (each) => `${seconds(each.exportSeconds)}, ${megabytes(each.exportBytes)}`),
    row("removal of eleven months", (each) => `${seconds(each.removeSeconds)}, ${count(each.removed)} entries`),
    row("usage of the year after it, ms", (each) => milliseconds(each.usageAfterMs)),
    ...(figures[0]?.sums ?? []).map(({ title }) =>
      row(`usage of 300 users, ${title}, ms`, ({ sums }) =>
        milliseconds(sums.find((each) => each.title === title)?.ms ?? 0),
      ),
    ),
    row("size before and after", (each) => `${megabytes(each.bytesBefore)}, ${megabytes(each.bytesAfter)}`),
    row("problems", (each) => each.problem ?? "none"),
  ];
  return `${markdownTable(head, rows)}\n`;
}

function exportText(figures: readonly ExportFigure[], wanted: string): string {
  const { rows = 0, seconds: taken = 0, memory = 0 } = figures.find(({ title }) => title === wanted) ?? {};
  return `${count(rows)} rows, ${seconds(taken)}, ${megabytes(memory)} more memory`;
}

const slowestOf = (figures: readonly { title: string; ms: number }[]): { title: string; ms: number } =>
  figures.reduce((slowest, each) => (each.ms > slowest.ms ? each : slowest), { title: "none", ms: 0 });

const EXPORT_BYTES_MAX = 100e6;

function exportBar(store: string, exports: readonly ExportFigure[]): Bar {
  const { title, memory } = exports.reduce((most, each) => (each.memory > most.memory ? each : most), {
    title: "none",
    memory: 0,
  });
  return {
    promise: `exports of a million rows on ${store} in under ${megabytes(EXPORT_BYTES_MAX)} more memory`,
    measured: `${megabytes(memory)} (${title})`,
    kept: memory < EXPORT_BYTES_MAX,
  };
}

/** A report over a year stays fast, however many calls it contains, and so does the first page of each list. */
export function growthBars(figures: readonly GrowthFigures[]): Bar[] {
  return figures.flatMap(({ store, usage, lists, exports, sums, problem }) => {
    const [report, list] = [slowestOf(usage), slowestOf(lists)];
    const barOf = (promise: string, { title, ms }: { title: string; ms: number }, most: number): Bar => ({
      promise: `${promise} on ${store} in under ${most} ms`,
      measured: problem ?? `${milliseconds(ms)} ms (${title})`,
      kept: problem === null && ms < most,
    });
    return [
      barOf("usage of a year", report, 50),
      barOf("the first page of every list", list, 100),
      exportBar(store, exports),
      ...sums.flatMap(({ most, ...each }) =>
        most === undefined ? [] : barOf(`usage of 300 users, ${each.title},`, each, most),
      ),
    ];
  });
}
