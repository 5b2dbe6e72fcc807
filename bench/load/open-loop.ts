import { createHistogram } from "node:perf_hooks";
import { Connection } from "./connection.ts";
import type { ConnectionOwner } from "./connection.ts";
import type { OpenLoopJob, OpenLoopResult, Tail } from "./protocol.ts";
import { addProblem, noProblems } from "./samples.ts";

/** A run with that many failures measures nothing and ends early. */
const problemsMax = 100;
/** How long answers under way may take to end when the last request has been sent. */
const drainMs = 15_000;

/** Latencies in microseconds, in the HdrHistogram of the runtime: three digits, up to a minute. */
function newHistogram() {
  return createHistogram({ lowest: 1, highest: 60_000_000, figures: 3 });
}

/**
 * Sends requests at fixed times, whether or not earlier ones have been answered, each on a free connection; more
 * connections are opened when none is free. A latency begins at the time at which the request was due, so a pause of the
 * server counts for every request that fell into it, also for those that could only be sent after it.
 */
class OpenLoop implements ConnectionOwner {
  readonly #job: OpenLoopJob;
  readonly #request: Buffer;
  readonly #latency = newHistogram();
  readonly #sendDelay = newHistogram();
  readonly #problems = noProblems();
  readonly #free: Connection[] = [];
  /** Due requests without a connection, by their times. */
  readonly #waiting: number[] = [];
  /** When the request under way was due. */
  readonly #due = new Map<Connection, number>();
  readonly #ended = Promise.withResolvers<void>();
  #connections = 0;
  #sent = 0;
  #completed = 0;
  #startedAt = 0;

  constructor(job: OpenLoopJob) {
    this.#job = job;
    this.#request = Buffer.from(job.request, "base64");
  }

  async run(): Promise<OpenLoopResult> {
    await Promise.all(Array.from({ length: this.#job.connections }, () => this.#connect()));
    this.#startedAt = performance.now();
    this.#sendDue();
    await this.#ended.promise;
    for (const connection of [...this.#free, ...this.#due.keys()]) connection.hangUp();
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    return {
      completed: this.#completed,
      perSecond: this.#completed / seconds,
      connections: this.#connections,
      problems: this.#problems,
      latency: tailOf(this.#latency),
      sendDelay: tailOf(this.#sendDelay),
    };
  }

  /**
   * A loop without pauses: a timer's precision of a millisecond would hide everything. It stops when each request has
   * been answered.
   */
  readonly #sendDue = (): void => {
    const { perSecond, seconds, connectionsMax } = this.#job;
    const now = performance.now();
    const total = Math.floor(perSecond * seconds);
    while (this.#sent < total && this.#timeOf(this.#sent) <= now) {
      this.#waiting.push(this.#timeOf(this.#sent));
      this.#sent += 1;
    }
    this.#sendWaiting();
    if (this.#waiting.length > 0 && this.#connections < connectionsMax) void this.#connect();
    const isTooLate = now > this.#timeOf(total) + drainMs;
    if (isTooLate) addProblem(this.#problems, "no end of an answer when the time was over");
    const isDone = this.#sent === total && this.#waiting.length === 0 && this.#due.size === 0;
    if (isDone || isTooLate || this.#problems.count >= problemsMax) this.#ended.resolve();
    else setImmediate(this.#sendDue);
  };

  #timeOf(request: number): number {
    return this.#startedAt + (request * 1_000) / this.#job.perSecond;
  }

  #sendWaiting(): void {
    while (this.#free.length > 0) {
      const due = this.#waiting.shift();
      if (due === undefined) return;
      const connection = this.#free.pop();
      if (connection === undefined) return;
      this.#due.set(connection, due);
      connection.send(this.#request);
      record(this.#sendDelay, connection.startedAt - due);
    }
  }

  async #connect(): Promise<void> {
    this.#connections += 1;
    try {
      this.#free.push(await Connection.open(this.#job.port, this.#job.expectation, this));
    } catch (error) {
      this.#connections -= 1;
      addProblem(this.#problems, String(error));
    }
  }

  eventsSeen(): void {
    // Only the end of an answer is measured.
  }

  answered(connection: Connection, problem: string | null): void {
    const due = this.#due.get(connection);
    this.#due.delete(connection);
    if (problem !== null) addProblem(this.#problems, problem);
    else if (due !== undefined) {
      this.#completed += 1;
      record(this.#latency, performance.now() - due);
    }
    if (connection.isOpen) this.#free.push(connection);
    else this.#connections -= 1;
  }

  closed(connection: Connection, problem: string | null): void {
    this.#connections -= 1;
    this.#due.delete(connection);
    const index = this.#free.indexOf(connection);
    if (index !== -1) this.#free.splice(index, 1);
    if (problem !== null) addProblem(this.#problems, problem);
  }
}

type Recorder = ReturnType<typeof newHistogram>;

function record(histogram: Recorder, milliseconds: number): void {
  histogram.record(Math.max(1, Math.round(milliseconds * 1_000)));
}

function tailOf(histogram: Recorder): Tail {
  const at = (percent: number): number => histogram.percentile(percent) / 1_000;
  return { p50: at(50), p99: at(99), p999: at(99.9), max: histogram.max / 1_000 };
}

/** Sends requests at a constant rate and resolves when the last one has been answered. */
export async function runOpenLoop(job: OpenLoopJob): Promise<OpenLoopResult> {
  return new OpenLoop(job).run();
}
