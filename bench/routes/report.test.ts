import { describe, expect, test } from "bun:test";
import type { RoutesFigures, RoutesRound } from "./measure.ts";
import { routesBars, routesTable } from "./report.ts";

const one = (p50: number, firstEventP50 = 0.1, firstEventP99 = 0.3) => ({ p50, firstEventP50, firstEventP99 });

const round = (added: number, held: number): RoutesRound => ({
  alone: one(0.4),
  busy: one(0.4 + added),
  unreachable: one(0.4 + added / 2),
  passed: one(0.5, 0.3, 0.5),
  held: one(0.5, 0.3, 0.5 + held),
});

function figuresOf(times: number, added: number, held: number, more: Partial<RoutesFigures> = {}): RoutesFigures {
  const use = (cpuMs: number) => ({ cpuMs, requests: 1_000 });
  const comparison = [
    { name: "chat", title: "Chat", rounds: [{ new: use(100 * times), old: use(100) }], problem: null },
  ];
  return {
    comparison,
    rounds: [round(added, held), round(added, held), round(9, 9)],
    healthy: { p50: 0.3, p99: 2 },
    flapping: { p50: 0.4, p99: 2 + 10 * added },
    startBytes: 100e6,
    endBytes: 100e6 * (1 + added / 3),
    problem: null,
    ...more,
  };
}

const kept = (figures: RoutesFigures): boolean[] => routesBars(figures).map((bar) => bar.kept);

describe("the bars of routes", () => {
  test("are kept by figures within them, by the median round", () => {
    expect(kept(figuresOf(1.019, 0.44, 0.99))).toEqual([true, true, true, true, true, true]);
  });

  test("are missed by figures beyond them", () => {
    expect(kept(figuresOf(1.03, 1.1, 1.01))).toEqual([false, false, false, false, false, false]);
  });

  test("are all missed by a run with wrong answers, which the table names", () => {
    const figures = figuresOf(1, 0.1, 0.1, { problem: "2 wrong answers" });
    expect(kept(figures)).toEqual([false, false, false, false, false, false]);
    expect(routesTable(figures)).toContain("| problems | 2 wrong answers |");
  });
});
