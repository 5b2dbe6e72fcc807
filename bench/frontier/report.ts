import type { Bar } from "../report/bar.ts";
import { count, decimals, markdownTable } from "../report/format.ts";
import type { FrontierFigures } from "./measure.ts";

const takeMsMax = 5;

export function frontierTable(figures: readonly FrontierFigures[]): string {
  const head = [
    `The next pages of ${count(figures[0]?.rows ?? 0)} addresses`,
    "store",
    "p50, ms",
    "p99, ms",
    "problems",
  ];
  const rows = figures.map(({ shape, store, p50, p99, problem }) => [
    shape,
    store,
    decimals(p50, 2),
    decimals(p99, 2),
    problem ?? "none",
  ]);
  return `${markdownTable(head, rows)}\n`;
}

/** The p99 is that of the disk, and shown only. */
export function frontierBars(figures: readonly FrontierFigures[]): Bar[] {
  return figures.map(({ shape, store, rows, p50, p99, problem }) => ({
    promise: `20 pages of ${count(rows)} addresses (${shape}) are chosen on ${store} in under ${takeMsMax} ms (p50)`,
    measured: problem ?? `${decimals(p50, 2)} ms (p99 ${decimals(p99, 2)} ms)`,
    kept: problem === null && p50 < takeMsMax,
  }));
}
