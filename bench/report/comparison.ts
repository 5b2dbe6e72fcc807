import type { ComparedCase, Use } from "../scenarios/comparison.ts";
import { manyCallers } from "../scenarios/matrix.ts";
import type { Bar } from "./bar.ts";
import { decimals, markdownTable, microseconds } from "./format.ts";
import { median } from "./median.ts";

/** The permitted CPU of the new checkout relative to the old one. */
const ratioMax = 1.05;

export interface ComparedFigures {
  name: string;
  /** Round by round. */
  rounds: { ratio: number; newMicroseconds: number; oldMicroseconds: number }[];
  /** Of the rounds' ratios, not the ratio of medians: both sides of a round had the same machine. */
  ratio: number;
  lowest: number;
  highest: number;
  problem: string | null;
}

export function comparedFiguresOf({ name, rounds, problem }: ComparedCase): ComparedFigures {
  const figures = rounds.map((round) => {
    const newMicroseconds = microsecondsARequest(round.new);
    const oldMicroseconds = microsecondsARequest(round.old);
    return { ratio: newMicroseconds / oldMicroseconds, newMicroseconds, oldMicroseconds };
  });
  const ratios = figures.map(({ ratio }) => ratio);
  return {
    name,
    rounds: figures,
    ratio: median(ratios),
    lowest: Math.min(...ratios),
    highest: Math.max(...ratios),
    problem,
  };
}

function microsecondsARequest({ cpuMs, requests }: Use): number {
  return (cpuMs * 1_000) / requests;
}

export function comparisonBars(cases: readonly ComparedCase[]): Bar[] {
  return cases.map(comparedFiguresOf).map(({ name, ratio, problem }) => ({
    promise: `${name}: CPU at most ${ratioMax} × the old checkout's`,
    measured: problem === null ? `${decimals(ratio, 3)} ×` : "invalid",
    kept: problem === null && ratio <= ratioMax,
  }));
}

/** A column for each case, a row for each round. */
export function comparisonTable(cases: readonly ComparedCase[]): string {
  const all = cases.map(comparedFiguresOf);
  const row = (name: string, show: (figures: ComparedFigures) => string): string[] => [
    name,
    ...all.map((figures) => (figures.problem === null ? show(figures) : "invalid")),
  ];
  const roundsMax = Math.max(...all.map(({ rounds }) => rounds.length));
  const rounds = Array.from({ length: roundsMax }, (_, index) =>
    row(`round ${index + 1}`, (figures) => showRound(figures.rounds[index])),
  );
  const rows = [
    ...rounds,
    row("median of the ratios", ({ ratio }) => decimals(ratio, 3)),
    row("lowest to highest", ({ lowest, highest }) => `${decimals(lowest, 3)} to ${decimals(highest, 3)}`),
  ];
  const head = [`CPU µs a request, ${manyCallers} callers: new / old`, ...all.map(({ name }) => name)];
  const problems = all.filter(({ problem }) => problem !== null);
  const notes = problems.map(({ name, problem }) => `\n${name}: invalid, ${problem ?? ""}\n`);
  return `${markdownTable(head, rows)}\n${notes.join("")}`;
}

function showRound(round: ComparedFigures["rounds"][number] | undefined): string {
  if (round === undefined) return "–";
  const { ratio, newMicroseconds, oldMicroseconds } = round;
  return `${microseconds(newMicroseconds)} / ${microseconds(oldMicroseconds)} = ${decimals(ratio, 3)}`;
}
