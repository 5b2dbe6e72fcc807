import type { JobStore, LeasedJob } from "./store.ts";

/** As shares of a lease: its age at the first renewal, and the pause after a renewal that failed. */
const RENEWED_AFTER = 1 / 3;
const TRIED_AGAIN_AFTER = 1 / 12;

/**
 * A leased job and its current run. The age of the lease is measured by a monotonic clock: a wall clock that is set back would
 * delay the renewal.
 */
export class Run {
  readonly job: LeasedJob;
  readonly #aborter = new AbortController();
  readonly #endsAt: number;
  #renewedAt: number;
  #triedAt = -Infinity;
  #renewing = false;
  /** Whether another node may run the job by now. */
  #lost = false;

  /** `leasedAt` is by the monotonic clock. */
  constructor(job: LeasedJob, leasedAt: number, runMsMax: number) {
    this.job = job;
    this.#renewedAt = leasedAt;
    this.#endsAt = leasedAt + runMsMax;
  }

  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  get lost(): boolean {
    return this.#lost;
  }

  abort(reason: Error): void {
    this.#aborter.abort(reason);
  }

  /** Renews the lease if it is old enough, or aborts the run. Rejects if the storage does. `now` is by the monotonic clock. */
  async keep(now: number, { store, leaseMs, until }: KeepOptions): Promise<void> {
    const { id } = this.job;
    if (this.#lost) return;
    if (now - this.#renewedAt >= leaseMs) return this.#lose();
    // The lease is not renewed, so that another run can begin even if this one ignores its signal.
    if (now >= this.#endsAt) return this.abort(new Error(`job ${id} takes too long`));
    if (this.#renewing || now - this.#renewedAt < leaseMs * RENEWED_AFTER) return;
    if (now - this.#triedAt < leaseMs * TRIED_AGAIN_AFTER) return;
    this.#triedAt = now;
    this.#renewing = true;
    try {
      if (await store.renew(this.job, until)) this.#renewedAt = now;
      else this.#lose();
    } finally {
      this.#renewing = false;
    }
  }

  #lose(): void {
    this.#lost = true;
    this.abort(new Error(`the lease of job ${this.job.id} is lost`));
  }
}

interface KeepOptions {
  store: JobStore;
  leaseMs: number;
  /** The end of the renewed lease. */
  until: number;
}
