import type { OpenLoopColumn, OpenLoopRound } from "../scenarios/open-loop.ts";
import { walBytesMax } from "../scenarios/wal.ts";
import type { Bar } from "./bar.ts";
import { count, decimals, markdownTable, megabytes, milliseconds, percent } from "./format.ts";
import { median } from "./median.ts";

const diskId = "tollgate";
const memoryId = "tollgate-memory";

/** How much longer calls may take on disk than in memory, at the p99. */
const diskRatioMax = 1.5;
const p999MsMax = 10;

/** Medians over the rounds. */
function medianOf(result: OpenLoopColumn, figureOf: (round: OpenLoopRound) => number): number {
  return median(result.rounds.map(figureOf));
}

function walBytesOf(result: OpenLoopColumn): number {
  return Math.max(...result.rounds.map(({ walBytes }) => walBytes));
}

function problemOf({ rounds }: OpenLoopColumn): string | null {
  return rounds.map(({ problem }) => problem).find((problem) => problem !== null) ?? null;
}

/** One table per rate. */
export function openLoopTables(results: readonly OpenLoopColumn[]): string {
  const rates = [...new Set(results.map(({ perSecond }) => perSecond))];
  return rates.map((rate) => openLoopTable(results.filter(({ perSecond }) => perSecond === rate))).join("\n");
}

function openLoopTable(results: readonly OpenLoopColumn[]): string {
  const row = (name: string, show: (result: OpenLoopColumn) => string): string[] => [name, ...results.map(show)];
  const time = (name: string, figureOf: (round: OpenLoopRound) => number): string[] =>
    row(name, (result) => milliseconds(medianOf(result, figureOf)));
  const rows = [
    row("calls a second", (result) => count(medianOf(result, ({ load }) => load.perSecond))),
    time("p50, ms", ({ load }) => load.latency.p50),
    time("p99, ms", ({ load }) => load.latency.p99),
    time("p99.9, ms", ({ load }) => load.latency.p999),
    time("longest, ms", ({ load }) => load.latency.max),
    time("of which the load generator sent late, p99, ms", ({ load }) => load.sendDelay.p99),
    row("largest write-ahead log since the start, MB", (result) => megabytes(walBytesOf(result))),
    row("proxy's CPU, % of a core", (result) => percent(medianOf(result, ({ proxyShare }) => proxyShare))),
    row("problems", (result) => problemOf(result) ?? "none"),
  ];
  const rate = count(results[0]?.perSecond ?? Number.NaN);
  return `${markdownTable([`Open loop, ${rate} chat calls a second`, ...results.map(({ label }) => label)], rows)}\n`;
}

export function openLoopBars(results: readonly OpenLoopColumn[]): Bar[] {
  return results.filter(({ proxyId }) => proxyId === diskId).flatMap((disk) => barsOfRate(disk, results));
}

function barsOfRate(disk: OpenLoopColumn, results: readonly OpenLoopColumn[]): Bar[] {
  const rate = `open loop, ${count(disk.perSecond)} a second`;
  const judge = (promise: string, measured: string, kept: boolean): Bar => {
    const problem = problemOf(disk);
    return { promise: `${rate}: ${promise}`, measured: problem ?? measured, kept: problem === null && kept };
  };
  const p999 = medianOf(disk, ({ load }) => load.latency.p999);
  const wal = walBytesOf(disk);
  const bars = [
    judge("p99.9 below 10 ms", `${milliseconds(p999)} ms`, p999 < p999MsMax),
    judge("write-ahead log under 64 MB", `${megabytes(wal)} MB`, wal < walBytesMax),
  ];
  const memory = results.find(({ proxyId, perSecond }) => proxyId === memoryId && perSecond === disk.perSecond);
  if (memory === undefined || problemOf(memory) !== null) return bars;
  const ratio = medianOf(disk, ({ load }) => load.latency.p99) / medianOf(memory, ({ load }) => load.latency.p99);
  return [judge("p99 at most 1.5 × that in memory", `${decimals(ratio, 2)} ×`, ratio <= diskRatioMax), ...bars];
}
