import { Connection } from "./connection.ts";
import type { ConnectionOwner } from "./connection.ts";
import type { FinishResult, HoldOpenJob, HoldOpenResult, Problems } from "./protocol.ts";
import { addProblem, noProblems, Samples } from "./samples.ts";

/** How many streams wait for their first event at a time while they are opened. */
const openingMax = 64;
/** After that many failures no further stream is opened: each may have cost the whole wait for a first event. */
const problemsMax = 64;
const firstEventMs = 20_000;
const finishMs = 60_000;

const firstEvents = new Samples();

class HeldStream implements ConnectionOwner {
  readonly #problems: Problems;
  readonly #opened = Promise.withResolvers<boolean>();
  readonly #ended = Promise.withResolvers<boolean>();
  #connection: Connection | null = null;
  #open = false;

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  /** Resolves to true once the first event has come; a failure counts as a problem. */
  async open(job: HoldOpenJob, request: Buffer): Promise<boolean> {
    try {
      this.#connection = await Connection.open(job.port, job.expectation, this);
    } catch (error) {
      this.#fail(String(error));
      return false;
    }
    this.#connection.send(request);
    return this.#within(this.#opened.promise, firstEventMs, "no first event within 20 s");
  }

  /** Resolves to true once the stream has come to its right end. */
  async end(): Promise<boolean> {
    return this.#within(this.#ended.promise, finishMs, "no end of the stream within 60 s");
  }

  eventsSeen(connection: Connection): void {
    if (this.#open) return;
    this.#open = true;
    firstEvents.add(connection.firstEventAt - connection.startedAt);
    this.#opened.resolve(true);
  }

  answered(connection: Connection, problem: string | null): void {
    connection.hangUp();
    if (problem === null) this.#settle(true);
    else this.#fail(problem);
  }

  closed(_connection: Connection, problem: string | null): void {
    if (problem !== null) this.#fail(problem);
  }

  async #within(promise: Promise<boolean>, milliseconds: number, problem: string): Promise<boolean> {
    const timer = setTimeout(() => this.#fail(problem), milliseconds);
    const outcome = await promise;
    clearTimeout(timer);
    return outcome;
  }

  #fail(problem: string): void {
    addProblem(this.#problems, problem);
    this.#connection?.hangUp();
    this.#settle(false);
  }

  #settle(outcome: boolean): void {
    this.#opened.resolve(outcome);
    this.#ended.resolve(outcome);
  }
}

interface Held {
  streams: HeldStream[];
  problems: Problems;
}

let held: Held = { streams: [], problems: noProblems() };

/** Opens the streams, a few at a time, and returns when each has had its first event or has failed. */
export async function openStreams(job: HoldOpenJob): Promise<HoldOpenResult> {
  firstEvents.clear();
  held = { streams: [], problems: noProblems() };
  const request = Buffer.from(job.request, "base64");
  let left = job.streams;
  const worker = async (): Promise<void> => {
    while (left > 0 && held.problems.count < problemsMax) {
      left -= 1;
      const stream = new HeldStream(held.problems);
      if (await stream.open(job, request)) held.streams.push(stream);
    }
  };
  await Promise.all(Array.from({ length: openingMax }, worker));
  return { opened: held.streams.length, firstEvent: firstEvents.spread(), problems: held.problems };
}

/** Waits for the ends of the streams opened before. */
export async function finishStreams(): Promise<FinishResult> {
  const ends = await Promise.all(held.streams.map((stream) => stream.end()));
  return { completed: ends.filter(Boolean).length, problems: held.problems };
}
