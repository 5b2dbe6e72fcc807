import type { Spread } from "../load/protocol.ts";
import type { CaseResult, Cell, Phase, Round } from "../scenarios/matrix.ts";
import { directId } from "../scenarios/matrix.ts";
import type { SoakResult } from "../scenarios/soak.ts";
import type { UploadsResult } from "../scenarios/uploads.ts";
import { median } from "./median.ts";

/** The figures of one proxy in one case: each is the median over the rounds. Times in ms, NaN if not measured. */
export interface Figures {
  proxyId: string;
  /** A run with a wrong answer measures nothing: the other figures don't count. */
  problem: string | null;
  perSecond: number;
  cpuMicroseconds: number;
  /** The capacity of one core: a million over the CPU µs per request. */
  oneCorePerSecond: number;
  /** Over the direct column's median of the same round; for the direct column itself the time as it is. */
  oneCaller: Added;
  manyCallers: Added;
  residentBytes: number;
  proxyShare: number;
  upstreamShare: number;
  loadShare: number;
  databaseShare: number;
}

interface Added {
  p50: number;
  p99: number;
  firstEventP50: number;
  firstEventP99: number;
}

export function figuresOf(result: CaseResult): Figures[] {
  const direct = result.cells.find((cell) => cell.proxyId === directId);
  return result.cells.map((cell) => figuresOfCell(cell, cell.proxyId === directId ? [] : (direct?.rounds ?? [])));
}

function figuresOfCell(cell: Cell, direct: readonly Round[]): Figures {
  const many = cell.rounds.map((round) => round.many);
  const cpuMicroseconds = median(many.map((phase) => phase.cpuMicrosecondsARequest ?? Number.NaN));
  return {
    proxyId: cell.proxyId,
    problem: cell.rounds.flatMap((round) => [round.one.problem, round.many.problem]).find(isText) ?? null,
    perSecond: median(many.map((phase) => phase.load.perSecond)),
    cpuMicroseconds,
    oneCorePerSecond: 1e6 / cpuMicroseconds,
    oneCaller: added(cell.rounds, direct, (round) => round.one),
    manyCallers: added(cell.rounds, direct, (round) => round.many),
    residentBytes: cell.residentBytes ?? Number.NaN,
    proxyShare: median(many.map((phase) => phase.proxyShare ?? Number.NaN)),
    upstreamShare: median(many.map((phase) => phase.upstreamShare)),
    loadShare: median(many.map((phase) => phase.loadShare)),
    databaseShare: median(many.map((phase) => phase.databaseShare ?? Number.NaN)),
  };
}

function isText(problem: string | null): problem is string {
  return problem !== null;
}

function added(rounds: readonly Round[], direct: readonly Round[], phaseOf: (round: Round) => Phase): Added {
  const over = (spreadOf: (phase: Phase) => Spread | null, at: "p50" | "p99"): number =>
    median(
      rounds.map((round, index) => {
        const base = direct[index];
        const floor = base === undefined ? 0 : (spreadOf(phaseOf(base))?.p50 ?? Number.NaN);
        return (spreadOf(phaseOf(round))?.[at] ?? Number.NaN) - floor;
      }),
    );
  return {
    p50: over((phase) => phase.load.latency, "p50"),
    p99: over((phase) => phase.load.latency, "p99"),
    firstEventP50: over((phase) => phase.load.firstEvent, "p50"),
    firstEventP99: over((phase) => phase.load.firstEvent, "p99"),
  };
}

/** Medians of the second and of the last fifth of a soak's readings: the first fifth is warm-up. */
export function soakMemoryOf({ residentBytes }: SoakResult): { startBytes: number; endBytes: number } {
  const fifth = Math.max(1, Math.floor(residentBytes.length / 5));
  return { startBytes: median(residentBytes.slice(fifth, 2 * fifth)), endBytes: median(residentBytes.slice(-fifth)) };
}

export function uploadPeakBytesOf({ waves }: UploadsResult): number {
  return Math.max(...waves.map((wave) => wave.peakBytes));
}

/** The median over the waves; NaN without such a result. */
export function uploadCpuMsOf(result: UploadsResult | undefined): number {
  return median((result?.waves ?? []).map((wave) => wave.cpuMs));
}
