import { describe, expect, test } from "bun:test";
import type { ClosedLoopResult } from "../load/protocol.ts";
import type { CaseResult, Cell, Phase } from "../scenarios/matrix.ts";
import type { OpenLoopColumn } from "../scenarios/open-loop.ts";
import { barsOf } from "./bars.ts";
import { figuresOf } from "./figures.ts";
import type { Results } from "./results.ts";

function phase(p50: number, cpuMicroseconds: number | null, problem: string | null = null): Phase {
  const load: ClosedLoopResult = {
    completed: 1_000,
    perSecond: 1_000,
    hangUps: 0,
    reconnects: 0,
    problems: { count: 0, examples: [] },
    latency: { p50, p99: 2 * p50, max: 3 * p50 },
    firstEvent: null,
  };
  const shares = { proxyShare: null, upstreamShare: 0.1, loadShare: 0.1, databaseShare: null };
  return { load, cpuMicrosecondsARequest: cpuMicroseconds, ...shares, problem };
}

function cell(proxyId: string, p50s: readonly number[], cpu: number | null, problem: string | null = null): Cell {
  const rounds = p50s.map((p50) => ({ one: phase(p50, cpu, problem), many: phase(p50, cpu, problem) }));
  return { proxyId, rounds, residentBytes: 1e6 };
}

function resultsOf(cells: Cell[]): Results {
  const cases: CaseResult[] = [{ name: "chat", title: "Chat", cells }];
  const none = {
    comparison: [],
    startUp: [],
    openLoop: [],
    openStreams: [],
    uploads: [],
    ledger: [],
    growth: [],
    videos: null,
    pages: null,
    frontier: [],
    search: [],
    tools: null,
    hosted: null,
    beside: null,
    console: [],
    routes: null,
    budgets: [],
    native: [],
    pauses: null,
    realtime: [],
    extraction: null,
    soak: null,
  };
  const rest = { ...none, otherLoadCores: 0 };
  return { command: "", at: "", conditions: [], columns: [], missing: [], cases, ...rest };
}

const direct = cell("direct", [0.1, 0.2, 0.1], null);
const nginx = cell("nginx", [0.2, 0.3, 0.2], 20);
const portkey = cell("portkey", [2, 2, 2], 1_500);

function verdicts(tollgate: Cell): Record<string, boolean> {
  const bars = barsOf(resultsOf([direct, nginx, tollgate, portkey]));
  return Object.fromEntries(bars.map((bar) => [bar.promise, bar.kept]));
}

describe("the figures", () => {
  test("take the direct call's median of the same round off and then the median of the rounds", () => {
    const result: CaseResult = { name: "chat", title: "", cells: [direct, cell("tollgate", [0.4, 1.2, 0.5], 80)] };
    const [floor, tollgate] = figuresOf(result);
    expect(floor?.oneCaller.p50).toBeCloseTo(0.1);
    expect(tollgate?.oneCaller.p50).toBeCloseTo(0.4);
    expect(tollgate?.oneCaller.p99).toBeCloseTo(0.9);
    expect(tollgate?.oneCorePerSecond).toBe(12_500);
  });
});

describe("the bars", () => {
  test("are kept by figures within them", () => {
    expect(Object.values(verdicts(cell("tollgate", [0.4, 0.4, 0.4], 80)))).toEqual([true, true, true, true]);
  });

  test("are missed by figures beyond them", () => {
    expect(Object.values(verdicts(cell("tollgate", [0.8, 0.8, 0.8], 130)))).toEqual([false, false, false, false]);
  });

  test("are all missed by a run with wrong answers", () => {
    const kept = verdicts(cell("tollgate", [0.4, 0.4, 0.4], 80, "1 wrong answer"));
    expect(Object.values(kept)).toEqual([false, false, false, false]);
  });

  test("to a peer with wrong answers are missed, the others judged", () => {
    const broken = cell("nginx", [0.2, 0.2, 0.2], 20, "1 wrong answer");
    const bars = barsOf(resultsOf([direct, broken, cell("tollgate", [0.4, 0.4, 0.4], 80)]));
    expect(bars.map((bar) => bar.measured === "invalid")).toEqual([true, false, false]);
    expect(bars.map((bar) => bar.kept)).toEqual([false, true, true]);
  });

  test.each([
    [120, true],
    [150, false],
  ])("hold Postgres to 60 %% of SQLite's requests a second of one core (%d µs against 80)", (cpu, kept) => {
    const cells = [direct, cell("tollgate", [0.4], 80), cell("tollgate-postgres", [0.6], cpu)];
    const bars = barsOf(resultsOf(cells)).filter((bar) => bar.promise.includes("Postgres"));
    expect(bars.map((bar) => bar.kept)).toEqual([kept]);
    expect(bars[0]?.measured).toBe(`${kept ? 67 : 53} % (seen: 100 %)`);
  });

  test.each([
    [150, true],
    [170, false],
  ])("hold a translated stream to twice the CPU of the relayed one (%d µs against 80)", (cpu, kept) => {
    const relayed: CaseResult = { name: "stream", title: "", cells: [direct, cell("tollgate", [0.4], 80)] };
    const translated: CaseResult = {
      ...relayed,
      name: "messages-stream",
      cells: [direct, cell("tollgate", [0.5], cpu)],
    };
    const bars = barsOf({ ...resultsOf([]), cases: [relayed, translated] });
    expect(bars.filter(({ promise }) => promise.includes("2 ×")).map((bar) => bar.kept)).toEqual([kept]);
  });

  test.each([
    [9_900, true],
    [10_000, false],
  ])("hold a translated body to 10 ms of CPU (%d µs)", (cpu, kept) => {
    const result: CaseResult = { name: "messages-body", title: "", cells: [direct, cell("tollgate", [1], cpu)] };
    const bars = barsOf({ ...resultsOf([]), cases: [result] });
    expect(bars.map((bar) => bar.kept)).toEqual([kept]);
  });

  const wave = { wallMs: 3_000, cpuMs: 60, megabytesASecond: 350, endedBytes: 150e6 };

  test.each([
    [[200e6, 1_199e6], null, "1199 MB", true],
    [[1_200e6, 200e6], null, "1200 MB", false],
    [[200e6], "3 temporary files left", "3 temporary files left", false],
  ])("hold every wave of uploads to 1.2 GB (%p, %p)", (peaks, problem, measured, kept) => {
    const waves = peaks.map((peakBytes) => ({ ...wave, peakBytes }));
    const uploads = [{ proxyId: "tollgate", idleBytes: 80e6, waves, problem }];
    const bars = barsOf({ ...resultsOf([]), uploads });
    expect(bars.map((bar) => [bar.measured, bar.kept])).toEqual([[measured, kept]]);
  });

  const openLoopOf = (proxyId: string, p99: number, p999: number, walBytes: number): OpenLoopColumn => {
    const tail = { p50: 0.3, p99, p999, max: 2 * p999 };
    const problems = { count: 0, examples: [] };
    const load = { completed: 1, perSecond: 500, connections: 16, problems, latency: tail, sendDelay: tail };
    const round = { load, proxyShare: 0.1, walBytes, problem: null };
    return { proxyId, label: proxyId, perSecond: 500, rounds: [round] };
  };

  test.each([
    [1.4, 9.9, 63e6, [true, true, true]],
    [1.6, 10, 64e6, [false, false, false]],
  ])("hold calls on disk to those in memory (p99 %d, p99.9 %d, log %d)", (p99, p999, walBytes, kept) => {
    const openLoop = [openLoopOf("tollgate", p99, p999, walBytes), openLoopOf("tollgate-memory", 1, 20, 99e6)];
    expect(barsOf({ ...resultsOf([]), openLoop }).map((bar) => bar.kept)).toEqual(kept);
  });

  test("without a peer are not judged", () => {
    const bars = barsOf(resultsOf([direct, cell("tollgate", [0.4, 0.4, 0.4], 80)]));
    expect(bars.map((bar) => bar.promise).filter((promise) => promise.includes("CPU at"))).toEqual([]);
    expect(bars).toHaveLength(2);
  });
});
