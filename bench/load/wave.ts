import { readFileSync } from "node:fs";
import { Connection } from "./connection.ts";
import type { ConnectionOwner } from "./connection.ts";
import type { Problems, WaveJob, WaveResult } from "./protocol.ts";
import { addProblem, noProblems } from "./samples.ts";

const answerMs = 120_000;

/** One request of a wave. */
class WaveCaller implements ConnectionOwner {
  readonly #problems: Problems;
  readonly #ended = Promise.withResolvers<boolean>();
  #connection: Connection | null = null;

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  async connect({ port, expectation }: WaveJob): Promise<void> {
    try {
      this.#connection = await Connection.open(port, expectation, this);
    } catch (error) {
      this.#end(String(error));
    }
  }

  /** Resolves to true when the right answer has come. */
  async send(request: Buffer): Promise<boolean> {
    const timer = setTimeout(() => this.#end("no end of the answer within 120 s"), answerMs);
    this.#connection?.send(request);
    const outcome = await this.#ended.promise;
    clearTimeout(timer);
    return outcome;
  }

  eventsSeen(): void {
    // An answer to an upload is no stream.
  }

  answered(_connection: Connection, problem: string | null): void {
    this.#end(problem);
  }

  closed(_connection: Connection, problem: string | null): void {
    this.#end(problem ?? "the connection was closed before the request");
  }

  #end(problem: string | null): void {
    this.#connection?.hangUp();
    if (problem !== null) addProblem(this.#problems, problem);
    this.#ended.resolve(problem === null);
  }
}

/** Connects all callers first, so that the requests begin together. All of them send the same bytes in memory. */
export async function runWave(job: WaveJob): Promise<WaveResult> {
  const problems = noProblems();
  const request = readFileSync(job.requestFile);
  const callers = Array.from({ length: job.callers }, () => new WaveCaller(problems));
  await Promise.all(callers.map((caller) => caller.connect(job)));
  const startedAt = performance.now();
  const outcomes = await Promise.all(callers.map((caller) => caller.send(request)));
  return { completed: outcomes.filter(Boolean).length, wallMs: performance.now() - startedAt, problems };
}
