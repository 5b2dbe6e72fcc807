import { Caller } from "./caller.ts";
import type { CallerLog } from "./caller.ts";
import type { CallerGroup, ClosedLoopJob, ClosedLoopResult, Spread } from "./protocol.ts";
import { addProblem, noProblems, Samples } from "./samples.ts";

/** A run with that many failures measures nothing and ends early. */
const problemsMax = 100;
/** How long answers under way may take to end when the time is over. */
const drainMs = 15_000;

const latencies = new Samples();
const firstEvents = new Samples();

/** The measurements of a number of callers, over all their runs. */
export class RunLog implements CallerLog {
  completedCount = 0;
  completedInTime = 0;
  hangUps = 0;
  reconnects = 0;
  readonly problems = noProblems();
  #endsAt = 0;

  /** Starts the clock. */
  begin(seconds: number): void {
    latencies.clear();
    firstEvents.clear();
    this.#endsAt = performance.now() + seconds * 1000;
  }

  get goesOn(): boolean {
    return performance.now() < this.#endsAt && this.problems.count < problemsMax;
  }

  completed(milliseconds: number, firstEventMilliseconds: number | null): void {
    this.completedCount += 1;
    if (performance.now() < this.#endsAt) this.completedInTime += 1;
    latencies.add(milliseconds);
    if (firstEventMilliseconds !== null) firstEvents.add(firstEventMilliseconds);
  }

  hungUp(): void {
    this.hangUps += 1;
  }

  reconnected(): void {
    this.reconnects += 1;
  }

  failed(problem: string): void {
    addProblem(this.problems, problem);
  }
}

/** Runs all callers side by side for `job.seconds`, each waiting for its answer before the next request. */
export async function runClosedLoop(job: ClosedLoopJob): Promise<ClosedLoopResult> {
  const log = new RunLog();
  const callers = job.groups.flatMap((group) => callersOf(job.port, group, log));
  await Promise.all(callers.map((caller) => caller.connect()));
  await runFor(callers, log, job.seconds);
  callers.forEach((caller) => caller.hangUp());
  return resultOf(job, log);
}

/** Sets connected callers going for `seconds` and resolves when the last answer has ended. */
export async function runFor(callers: readonly Caller[], log: RunLog, seconds: number): Promise<void> {
  log.begin(seconds);
  const running = new Set(callers);
  const ends = callers.map((caller) => caller.run().then(() => running.delete(caller)));
  const guard = setTimeout(() => running.forEach((caller) => caller.giveUp()), seconds * 1000 + drainMs);
  await Promise.all(ends);
  clearTimeout(guard);
}

export function callersOf(port: number, group: CallerGroup, log: CallerLog): Caller[] {
  const request = Buffer.from(group.request, "base64");
  return Array.from({ length: group.callers }, () => new Caller(port, group, request, log));
}

const nothingMeasured: Spread = { p50: 0, p99: 0, max: 0 };

function resultOf(job: ClosedLoopJob, log: RunLog): ClosedLoopResult {
  const latency = latencies.spread();
  if (latency === null && log.hangUps === 0) log.failed("no answer was completed");
  return {
    completed: log.completedCount,
    perSecond: log.completedInTime / job.seconds,
    hangUps: log.hangUps,
    reconnects: log.reconnects,
    problems: log.problems,
    latency: latency ?? nothingMeasured,
    firstEvent: firstEvents.spread(),
  };
}
