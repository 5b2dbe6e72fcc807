import type { BenchCase } from "../cases/index.ts";
import type { ClosedLoopResult } from "../load/protocol.ts";
import type { Proxy, RunningProxy, Target } from "../proxies/index.ts";
import { useOfTree } from "../system/processes.ts";
import { callersOf } from "./request.ts";
import { progress } from "./rig.ts";
import type { Rig } from "./rig.ts";

/** How many callers the throughput is measured with. */
export const manyCallers = 16;

export interface Durations {
  rounds: number;
  warmUpSliceSeconds: number;
  warmUpSlicesMax: number;
  oneCallerSeconds: number;
  manyCallersSeconds: number;
}

/** One run of the load generator with the CPU used by the processes. */
export interface Phase {
  load: ClosedLoopResult;
  /** The proxy's own processes, CPU µs for each completed request; null without a proxy. */
  cpuMicrosecondsARequest: number | null;
  /** Shares of one core. */
  proxyShare: number | null;
  upstreamShare: number;
  loadShare: number;
  /** Null if the proxy has no database process. */
  databaseShare: number | null;
  problem: string | null;
}

export interface Round {
  one: Phase;
  many: Phase;
}

/** A proxy in a case. */
export interface Cell {
  proxyId: string;
  rounds: Round[];
  /** The proxy's memory after its last round; null without a proxy. */
  residentBytes: number | null;
}

export interface CaseResult {
  name: string;
  title: string;
  /** The first cell is the one without a proxy. */
  cells: Cell[];
}

interface Subject {
  id: string;
  target: Target;
  pid: number | null;
  databasePid: number | null;
}

export const directId = "direct";

/** Measures the cases with all proxies running side by side, one under load at a time, in turns (rounds). */
export async function measureMatrix(
  rig: Rig,
  proxies: readonly Proxy[],
  cases: readonly BenchCase[],
  durations: Durations,
): Promise<CaseResult[]> {
  const running: RunningProxy[] = [];
  const subjects: Subject[] = [{ id: directId, target: rig.direct, pid: null, databasePid: null }];
  try {
    for (const proxy of proxies) {
      const started = await proxy.start(rig.context);
      running.push(started);
      const { target, databasePid } = started;
      subjects.push({ id: proxy.id, target, pid: started.process.pid, databasePid });
    }
    return await measureCases(rig, subjects, cases, durations);
  } finally {
    await Promise.all(running.map((proxy) => proxy.stop()));
  }
}

async function measureCases(
  rig: Rig,
  subjects: readonly Subject[],
  cases: readonly BenchCase[],
  durations: Durations,
): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  for (const benchCase of cases) {
    const taking = subjects.filter((subject) => takesPart(subject, benchCase));
    const cells = taking.map((subject): Cell => ({ proxyId: subject.id, rounds: [], residentBytes: null }));
    progress(`${benchCase.name}: warm-up`);
    for (const subject of taking) await warmUp(rig, subject, benchCase, durations);
    for (let round = 1; round <= durations.rounds; round += 1) {
      progress(`${benchCase.name}: round ${round} of ${durations.rounds}`);
      for (const [index, subject] of taking.entries()) {
        const cell = cells[index];
        if (cell !== undefined) await measureRound({ rig, subject, benchCase }, durations, cell);
      }
    }
    results.push({ name: benchCase.name, title: benchCase.title, cells });
  }
  return results;
}

function takesPart({ id, pid }: Subject, { proxies }: BenchCase): boolean {
  return pid === null || proxies === undefined || proxies.includes(id);
}

/** A slice that isn't this much cheaper than the best before brings nothing more. */
const worthwhileShare = 0.95;
const idleSlicesMax = 2;

/**
 * Keeps a proxy under load until its CPU a request no longer falls: JIT compilers differ widely in how long they take
 * (nginx is at its best at once, Node.js with a large bundle after some ten seconds on one core).
 */
async function warmUp(rig: Rig, subject: Subject, benchCase: BenchCase, durations: Durations): Promise<void> {
  let best = Number.POSITIVE_INFINITY;
  let idleSlices = 0;
  for (let slice = 0; slice < durations.warmUpSlicesMax && idleSlices < idleSlicesMax; slice += 1) {
    const phase = await measurePhase({ rig, subject, benchCase }, manyCallers, durations.warmUpSliceSeconds);
    const cost = phase.cpuMicrosecondsARequest;
    if (cost === null || phase.problem !== null) return;
    idleSlices = cost < best * worthwhileShare ? 0 : idleSlices + 1;
    best = Math.min(best, cost);
  }
}

/** One case of one subject. */
interface Measurement {
  rig: Rig;
  subject: Subject;
  benchCase: BenchCase;
}

async function measureRound(measurement: Measurement, durations: Durations, cell: Cell): Promise<void> {
  const { subject } = measurement;
  const one = await measurePhase(measurement, 1, durations.oneCallerSeconds);
  const many = await measurePhase(measurement, manyCallers, durations.manyCallersSeconds);
  cell.rounds.push({ one, many });
  cell.residentBytes = subject.pid === null ? null : useOfTree(subject.pid).residentBytes;
}

/** Waits for the proxy's work after its answers (settling, log), so that no other measurement includes it. */
const settleMs = 100;

async function measurePhase(
  { rig, subject, benchCase }: Measurement,
  callers: number,
  seconds: number,
): Promise<Phase> {
  const call = subject.pid === null ? (benchCase.direct ?? benchCase) : benchCase;
  const group = callersOf(subject.target, call, callers);
  rig.placeUpstream(subject.pid === null ? "in the proxy's place" : "beside the load generator");
  const before = await sample(rig, subject);
  const load = await rig.run({ kind: "closed-loop", port: subject.target.port, groups: [group], seconds });
  await Bun.sleep(settleMs);
  const after = await sample(rig, subject);
  const wallMs = after.at - before.at - settleMs;
  const proxyMs = subject.pid === null ? null : after.proxyMs - before.proxyMs;
  const databaseMs = subject.databasePid === null ? null : after.databaseMs - before.databaseMs;
  return {
    load,
    cpuMicrosecondsARequest: proxyMs === null ? null : (proxyMs * 1000) / Math.max(1, load.completed),
    proxyShare: proxyMs === null ? null : proxyMs / wallMs,
    upstreamShare: (after.upstreamMs - before.upstreamMs) / wallMs,
    loadShare: (after.loadMs - before.loadMs) / wallMs,
    databaseShare: databaseMs === null ? null : databaseMs / wallMs,
    problem: problemOf(load, after.requests - before.requests),
  };
}

interface Sample {
  at: number;
  proxyMs: number;
  upstreamMs: number;
  loadMs: number;
  databaseMs: number;
  requests: number;
}

async function sample(rig: Rig, subject: Subject): Promise<Sample> {
  const { requests } = await rig.statistics();
  return {
    at: performance.now(),
    proxyMs: subject.pid === null ? 0 : useOfTree(subject.pid).cpuMs,
    upstreamMs: useOfTree(rig.upstream.pid).cpuMs,
    loadMs: useOfTree(rig.load.pid).cpuMs,
    databaseMs: subject.databasePid === null ? 0 : useOfTree(subject.databasePid).cpuMs,
    requests,
  };
}

type Answers = Pick<ClosedLoopResult, "completed" | "problems">;

/** The errors of answers during which the upstream received `requests` requests; null without errors. */
export function problemOf({ problems, completed }: Answers, requests: number): string | null {
  const { count, examples } = problems;
  if (count > 0) return `${count} wrong answers, such as: ${examples[0] ?? ""}`;
  if (requests < completed) return `${completed - requests} answers that the upstream never gave`;
  return null;
}
