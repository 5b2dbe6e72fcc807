import type { Bar } from "../report/bar.ts";
import { count, decimals, markdownTable } from "../report/format.ts";
import type { SearchFigures } from "./measure.ts";

const searchMsMax = 50;

export function searchTable(figures: readonly SearchFigures[]): string {
  const head = [`Local searches over ${count(figures[0]?.pages ?? 0)} pages`, "p50, ms", "p99, ms", "slowest", "found"];
  const rows = figures.map(({ store, p50, p99, slowest, found, searches }) => [
    store,
    decimals(p50, 1),
    decimals(p99, 1),
    `${decimals(slowest.ms, 1)} ms: ${slowest.query}`,
    `${count(found)} of ${count(searches)}`,
  ]);
  return `${markdownTable(head, rows)}\n`;
}

export function searchBars(figures: readonly SearchFigures[]): Bar[] {
  return figures.map(({ store, pages, p99, found }) => ({
    promise: `a local search over ${count(pages)} pages on ${store} takes less than ${searchMsMax} ms (p99)`,
    measured: `${decimals(p99, 1)} ms`,
    kept: found > 0 && p99 < searchMsMax,
  }));
}
