/** Runners on a real store with clocks that the test moves. */
import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";
import {
  type Job,
  type JobHandler,
  type JobResult,
  JobRunner,
  type JobStore,
  type NewJob,
  openJobStore,
} from "../../src/jobs/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { Ticker } from "../../src/streaming/index.ts";
import { type Engine, type PostgresServer, startPostgres, until } from "../kit/index.ts";

export const LEASE = 60_000;
export const POLL = 1_000;
export const START = 1_000_000;
export const KIND = "work";

export const job = (id: string, rest: Partial<NewJob> = {}): NewJob => ({
  id,
  kind: KIND,
  owner: "alice",
  payload: {},
  runAt: START,
  createdAt: START,
  ...rest,
});

export const done: JobResult = { done: true };
export const message = (reason: unknown): unknown => (reason instanceof Error ? reason.message : reason);

/** A run that ends when the test or its signal ends it. */
interface OpenRun {
  job: Job;
  signal: AbortSignal;
  end(result: JobResult): void;
  fail(reason: Error): void;
}

/** A handler whose runs the test ends. */
export class Gate implements JobHandler {
  readonly runs: OpenRun[] = [];
  readonly givenUp: { job: Job; reason: unknown }[] = [];
  attemptsMax = 3;
  concurrencyMax = 4;
  runMsMax = 10 * LEASE;
  /** Whether a run ends by its signal. */
  listens = true;
  onExhausted: JobHandler["onExhausted"] = async (exhausted, reason) => {
    this.givenUp.push({ job: exhausted, reason: message(reason) });
  };

  run(leased: Job, { signal }: { signal: AbortSignal }): Promise<JobResult> {
    const { promise, resolve, reject } = Promise.withResolvers<JobResult>();
    if (this.listens) signal.addEventListener("abort", () => reject(signal.reason as Error));
    this.runs.push({ job: leased, signal, end: resolve, fail: reject });
    return promise;
  }

  get ids(): string[] {
    return this.runs.map((run) => run.job.id);
  }

  /** The run of that number, once it has begun. */
  async nth(number: number): Promise<OpenRun> {
    return until(`run ${number} begins`, () => this.runs[number - 1]);
  }
}

export class JobRig {
  readonly storage: Storage;
  readonly store: JobStore;
  readonly gate = new Gate();
  /** The errors that the runners reported, each with the job's id. */
  readonly errors: unknown[] = [];
  /** The wall clock and the monotonic one. */
  clock = START;
  elapsed = 0;
  readonly #ticker = new Ticker(1, () => this.elapsed);
  readonly #runners: JobRunner[] = [];
  #drawn = 0;

  constructor(storage: Storage) {
    this.storage = storage;
    this.store = openJobStore(storage);
  }

  start(node = "n1", handlers = new Map<string, JobHandler>([[KIND, this.gate]])): JobRunner {
    const runner = new JobRunner({
      store: this.store,
      handlers,
      node,
      clock: () => this.clock,
      ticker: this.#ticker,
      // The tokens of leases must differ.
      randomBytes: (size) => Uint8Array.from({ length: size }, () => (this.#drawn += 7)),
      randomFraction: () => 0,
      onError: (reason, of) => this.errors.push([message(reason), of?.id]),
      pollMs: POLL,
      leaseMs: LEASE,
    });
    this.#runners.push(runner);
    return runner;
  }

  pass(milliseconds: number): void {
    this.clock += milliseconds;
    this.elapsed += milliseconds;
  }

  async gone(id: string): Promise<void> {
    await until(`${id} is gone`, async () => (await this.store.find(id)) === undefined);
  }

  /** The job, once it waits for its next run. */
  waiting(id: string): Promise<Job> {
    return until(`${id} waits`, async () => {
      const found = await this.store.find(id);
      return found?.lease === undefined && found;
    });
  }

  /** Resolves after a poll at the present moment. */
  async looked(): Promise<void> {
    const { store, gate } = this;
    const marker = `marker-${gate.runs.length}-${this.clock}-${this.elapsed}`;
    await store.put(job(marker, { runAt: 0 }));
    this.elapsed += POLL;
    const run = await until("the marker runs", () => gate.runs.find((each) => each.job.id === marker));
    gate.runs.splice(gate.runs.indexOf(run), 1);
    run.end(done);
    await this.gone(marker);
  }

  async close(): Promise<void> {
    for (const run of this.gate.runs) run.end(done);
    let stopped = false;
    const stopping = Promise.all(this.#runners.map((runner) => runner.stop(0))).then(() => (stopped = true));
    await until("the runners stop", () => {
      this.elapsed += LEASE;
      return stopped;
    });
    await stopping;
    this.#ticker.stop();
    await this.storage.close();
  }
}

/** A new rig for each test of a `describe`. */
export function sharedJobRig(engine: Engine): { readonly rig: JobRig } {
  let server: PostgresServer | undefined;
  let current: JobRig | undefined;
  beforeAll(async () => {
    if (engine === "Postgres") server = await startPostgres();
  });
  beforeEach(async () => {
    current = new JobRig(await openStorage((await server?.createDatabase()) ?? "sqlite::memory:"));
  });
  afterEach(() => current?.close());
  afterAll(() => server?.stop());
  return {
    get rig() {
      if (current === undefined) throw new Error("there is no rig before the first test");
      return current;
    },
  };
}
