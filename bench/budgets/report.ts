import type { Bar } from "../report/bar.ts";
import { comparedFiguresOf } from "../report/comparison.ts";
import { decimals, markdownTable, microseconds } from "../report/format.ts";
import { median } from "../report/median.ts";
import type { ComparedCase } from "../scenarios/comparison.ts";

/** The permitted CPU of a call with four budgets beside it, relative to one with none. */
const timesMax = 1.15;

export function budgetsTable(cases: readonly ComparedCase[]): string {
  const rows = cases.map(comparedFiguresOf).flatMap(({ rounds, ratio, lowest, highest, problem }) => [
    ["without budgets, CPU µs a call", microseconds(median(rounds.map(({ oldMicroseconds }) => oldMicroseconds)))],
    ["with four beside it", microseconds(median(rounds.map(({ newMicroseconds }) => newMicroseconds)))],
    [
      "times as much: median, lowest to highest round",
      `${decimals(ratio, 3)}, ${decimals(lowest, 3)} to ${decimals(highest, 3)}`,
    ],
    ["problems", problem ?? "none"],
  ]);
  return `${markdownTable(["Chat calls of 64 callers", "Tollgate (SQLite)"], rows)}\n`;
}

export function budgetsBars(cases: readonly ComparedCase[]): Bar[] {
  return cases.map(comparedFiguresOf).map(({ ratio, problem }) => ({
    promise: `budgets: four beside a chat call cost at most ${decimals(timesMax, 2)} × its CPU`,
    measured: problem === null ? `${decimals(ratio, 3)} ×` : "invalid",
    kept: problem === null && ratio <= timesMax,
  }));
}
