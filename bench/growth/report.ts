import type { Bar } from "../report/bar.ts";
import { count, markdownTable, milliseconds } from "../report/format.ts";
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
    row("audit of everything", (each) => seconds(each.auditSeconds)),
    row("seal of eleven months", (each) => seconds(each.sealSeconds)),
    row("audit after it", (each) => seconds(each.sealedAuditSeconds)),
    row("export of eleven months", (each) => `${seconds(each.exportSeconds)}, ${megabytes(each.exportBytes)}`),
    row("removal of eleven months", (each) => `${seconds(each.removeSeconds)}, ${count(each.removed)} entries`),
    row("usage of the year after it, ms", (each) => milliseconds(each.usageAfterMs)),
    row("size before and after", (each) => `${megabytes(each.bytesBefore)}, ${megabytes(each.bytesAfter)}`),
    row("problems", (each) => each.problem ?? "none"),
  ];
  return `${markdownTable(head, rows)}\n`;
}

/** A report over a year stays fast, however many calls it contains. */
export function growthBars(figures: readonly GrowthFigures[]): Bar[] {
  return figures.map(({ store, usage, problem }) => {
    const slowest = Math.max(...usage.map(({ ms }) => ms));
    const promise = `usage of a year on ${store} in under 50 ms`;
    return { promise, measured: problem ?? `${milliseconds(slowest)} ms`, kept: problem === null && slowest < 50 };
  });
}
