import { describe, expect, test } from "bun:test";
import type { ComparedCase, Use } from "../scenarios/comparison.ts";
import { comparedFiguresOf, comparisonBars, comparisonTable } from "./comparison.ts";

/** A round of a thousand requests on the new side and two thousand on the old one. */
function round(newMicroseconds: number, oldMicroseconds: number): { new: Use; old: Use } {
  return { new: { cpuMs: newMicroseconds, requests: 1_000 }, old: { cpuMs: 2 * oldMicroseconds, requests: 2_000 } };
}

function compared(rounds: ComparedCase["rounds"], problem: string | null = null): ComparedCase {
  return { name: "chat", title: "Chat", rounds, problem };
}

describe("the figures of a comparison", () => {
  test("are CPU a request, however many requests each side answered", () => {
    const { rounds } = comparedFiguresOf(compared([round(63, 60)]));
    expect(rounds).toEqual([{ ratio: 1.05, newMicroseconds: 63, oldMicroseconds: 60 }]);
  });

  test("pair the sides within each round before the median is taken", () => {
    // The machine was twice as slow in the second round; the ratio of the medians would be 66 / 80.
    const figures = comparedFiguresOf(compared([round(66, 60), round(120, 120), round(60, 80)]));
    expect(figures.ratio).toBeCloseTo(1);
    expect(figures.lowest).toBeCloseTo(0.75);
    expect(figures.highest).toBeCloseTo(1.1);
  });

  test("take the middle of an even number of rounds", () => {
    expect(comparedFiguresOf(compared([round(60, 60), round(66, 60)])).ratio).toBeCloseTo(1.05);
  });
});

describe("the bar of a comparison", () => {
  test.each([
    [105, "1.050 ×", true],
    [106, "1.060 ×", false],
    [80, "0.800 ×", true],
  ])("holds the new checkout to 1.05 times the old one's CPU (%d µs against 100)", (cpu, measured, kept) => {
    const promise = "chat: CPU at most 1.05 × the old checkout's";
    expect(comparisonBars([compared([round(cpu, 100)])])).toEqual([{ promise, measured, kept }]);
  });

  test("is missed by a run with wrong answers, whatever it measured", () => {
    const bars = comparisonBars([compared([round(50, 100)], "new: 1 wrong answer")]);
    expect(bars.map((bar) => [bar.measured, bar.kept])).toEqual([["invalid", false]]);
  });
});

describe("the table of a comparison", () => {
  test("has a column for each case and a row for each round", () => {
    const body: ComparedCase = { ...compared([round(1_300, 1_250), round(1_200, 1_200)]), name: "body" };
    expect(comparisonTable([compared([round(63, 60), round(60, 60)]), body])).toBe(
      [
        "| CPU µs a request, 16 callers: new / old | chat | body |",
        "| --- | ---: | ---: |",
        "| round 1 | 63.0 / 60.0 = 1.050 | 1300 / 1250 = 1.040 |",
        "| round 2 | 60.0 / 60.0 = 1.000 | 1200 / 1200 = 1.000 |",
        "| median of the ratios | 1.025 | 1.020 |",
        "| lowest to highest | 1.000 to 1.050 | 1.000 to 1.040 |",
        "",
      ].join("\n"),
    );
  });

  test("contains the reason why a case is invalid", () => {
    const table = comparisonTable([compared([round(63, 60)], "old: 3 wrong answers")]);
    expect(table).toContain("| round 1 | invalid |");
    expect(table).toEndWith("chat: invalid, old: 3 wrong answers\n");
  });
});
