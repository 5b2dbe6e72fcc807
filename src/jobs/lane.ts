import { type Clock, Places, type RandomFraction } from "../core/index.ts";
import type { Ticker } from "../streaming/index.ts";
import { backOffMs } from "./back-off.ts";
import type { JobHandler, JobResult } from "./handler.ts";
import { DueJobs } from "./due-jobs.ts";
import { type LeaseHolder, newLease } from "./lease.ts";
import { Run } from "./run.ts";
import { storeResult } from "./run-claimed.ts";
import type { Job, JobStore, LeasedJob, NextRun } from "./store.ts";

export interface LaneOptions extends LeaseHolder {
  store: JobStore;
  /** For stored times. */
  clock: Clock;
  /** A monotonic clock, for the age of a lease. */
  ticker: Pick<Ticker, "now">;
  randomFraction: RandomFraction;
  leaseMs: number;
  /** Called with each error of a run or of the storage, and the job that it concerns. */
  onError: (reason: unknown, job: Job | undefined) => void;
}

/** Takes and runs the jobs of one kind, as far as their owners have places. */
export class Lane {
  readonly #handler: JobHandler;
  readonly #options: LaneOptions;
  readonly #runs = new Map<Run, Promise<void>>();
  readonly #places: Places;
  readonly #due: DueJobs;
  /** The pending request for due jobs. */
  #asking: Promise<void> | undefined;
  /** Whether a job may have got a place since the last attempt. */
  #mayHaveRoom = false;
  #closed = false;

  constructor(kind: string, handler: JobHandler, options: LaneOptions) {
    this.#handler = handler;
    this.#options = options;
    this.#places = handler.places ?? new Places({ what: "jobs", places: handler.concurrencyMax });
    this.#due = new DueJobs(kind, handler, options.store);
  }

  /** The number of runs that have not ended. */
  get running(): number {
    return this.#runs.size;
  }

  /** Takes as many due jobs as there is room for, and more of them when a run ends. */
  take(): void {
    this.#due.mayBeMore = true;
    this.#askIfUseful();
  }

  /** Renews the leases that need it; `now` is the ticker's. */
  keep(now: number): void {
    const { store, leaseMs, clock, onError } = this.#options;
    for (const run of this.#runs.keys()) {
      run.keep(now, { store, leaseMs, until: clock() + leaseMs }).catch((reason: unknown) => onError(reason, run.job));
    }
  }

  /** Takes no more jobs. Current runs go on. */
  close(): void {
    this.#closed = true;
  }

  /** Aborts the signal of every current run. */
  abort(reason: Error): void {
    for (const run of this.#runs.keys()) run.abort(reason);
  }

  /** Resolves when all runs have ended. Only for a closed lane. */
  async rest(): Promise<void> {
    await this.#asking;
    await Promise.all(this.#runs.values());
  }

  #askIfUseful(): void {
    this.#mayHaveRoom = true;
    if (this.#asking === undefined && this.#mayTake()) this.#asking = this.#ask();
  }

  /** Must not be called unless `#mayTake`: without an `await` it would clear `#asking` before that is set. */
  async #ask(): Promise<void> {
    while (this.#mayHaveRoom && this.#mayTake()) {
      this.#mayHaveRoom = false;
      if (await this.#leaseDue()) this.#mayHaveRoom = true;
    }
    this.#asking = undefined;
  }

  #mayTake(): boolean {
    return !this.#closed && this.#due.isWorthAsking && this.#places.running < this.#places.count;
  }

  /** Resolves with whether another request may lease more. */
  async #leaseDue(): Promise<boolean> {
    const { store, clock, ticker, leaseMs, onError } = this.#options;
    const [at, leasedAt] = [clock(), ticker.now()];
    const lease = newLease(this.#options, at + leaseMs);
    const leaves = new Map<string, () => void>();
    try {
      await this.#due.look(at);
      for (const { task, leave } of this.#places.grab(this.#due.tasks)) leaves.set(task.id, leave);
      if (leaves.size === 0) return false;
      const ids = [...leaves.keys()];
      this.#due.remove(leaves);
      for (const job of await store.lease({ ids, lease, at })) {
        this.#start(job, leasedAt, leaves.get(job.id));
        leaves.delete(job.id);
      }
      return true;
    } catch (reason) {
      onError(reason, undefined);
      return false;
    } finally {
      // Another process was faster.
      for (const leave of leaves.values()) leave();
    }
  }

  #start(job: LeasedJob, leasedAt: number, leave: (() => void) | undefined): void {
    const run = new Run(job, leasedAt, this.#handler.runMsMax);
    const ended = this.#runToEnd(run).finally(() => {
      leave?.();
      this.#askIfUseful();
    });
    this.#runs.set(run, ended);
  }

  async #runToEnd(run: Run): Promise<void> {
    try {
      await this.#perform(run);
    } catch (reason) {
      // The result could not be stored: the job runs again after its lease.
      this.#options.onError(reason, run.job);
    }
    this.#runs.delete(run);
  }

  async #perform(run: Run): Promise<void> {
    const { job, signal } = run;
    // The store answered after the lane was closed.
    if (this.#closed) return this.#returnJob(job);
    let result: JobResult;
    try {
      // The process of the last attempt died.
      if (job.attempts > this.#handler.attemptsMax) return await this.#abandonJob(run, undefined);
      result = await this.#handler.run(job, { signal });
    } catch (reason) {
      if (this.#closed && signal.aborted && !run.lost) return this.#returnJob(job);
      return this.#fail(run, reason);
    }
    await this.#note(job, result);
  }

  async #note(job: LeasedJob, result: JobResult): Promise<void> {
    const { store: jobs, clock } = this.#options;
    await storeResult({ jobs, clock }, job, result);
    if ("again" in result && result.afterMs <= 0) this.#due.mayBeMore = true;
  }

  /** Schedules the next attempt, or gives the job up. After a lost lease the other node decides. */
  async #fail(run: Run, reason: unknown): Promise<void> {
    const { job } = run;
    this.#options.onError(reason, job);
    if (job.attempts === this.#handler.attemptsMax && !run.lost) {
      try {
        return await this.#abandonJob(run, reason);
      } catch (secondReason) {
        this.#options.onError(secondReason, job);
      }
    }
    const { clock, randomFraction } = this.#options;
    const runAt = clock() + backOffMs(job.attempts, randomFraction());
    await this.#reschedule(job, { runAt, attempts: job.attempts });
  }

  async #abandonJob({ job }: Run, reason: unknown): Promise<void> {
    await this.#handler.onExhausted(job, reason);
    await this.#options.store.finish(job);
  }

  /** Frees a job that did not fail, and does not count the attempt. */
  #returnJob(job: LeasedJob): Promise<void> {
    return this.#reschedule(job, { runAt: job.runAt, attempts: job.attempts - 1 });
  }

  async #reschedule(job: LeasedJob, next: NextRun): Promise<void> {
    await this.#options.store.reschedule(job, next);
  }
}
