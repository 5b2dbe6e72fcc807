import type { QueuedTask } from "../core/index.ts";
import type { JobHandler } from "./handler.ts";
import type { Job, JobStore } from "./store.ts";

/** Due jobs that are read at a time. */
const JOBS_MAX = 128;

/** Reads in which all jobs are of owners with more jobs than that, after which others are looked for no further. */
const READS_MAX = 8;

interface DueJob extends QueuedTask {
  id: string;
}

/**
 * The jobs of one kind that were due when the store was last asked: some of every owner, so that the owner with the oldest ones
 * does not hide the others.
 */
export class DueJobs {
  /** Whether the store may have due jobs that are not among these. */
  mayBeMore = false;
  readonly #kind: string;
  readonly #handler: JobHandler;
  readonly #store: JobStore;
  readonly #jobs = new Map<string, DueJob>();
  /** Whether the store had more of some owner. */
  #isCut = false;

  constructor(kind: string, handler: JobHandler, store: JobStore) {
    this.#kind = kind;
    this.#handler = handler;
    this.#store = store;
  }

  get isWorthAsking(): boolean {
    return this.mayBeMore || this.#jobs.size > 0;
  }

  get tasks(): DueJob[] {
    return [...this.#jobs.values()];
  }

  /** Forgets jobs that are taken. */
  remove(ids: ReadonlyMap<string, unknown>): void {
    for (const id of ids.keys()) this.#jobs.delete(id);
    if (this.#jobs.size === 0 && this.#isCut) this.mayBeMore = true;
  }

  /** Asks the store if it may have more. */
  async look(at: number): Promise<void> {
    if (!this.mayBeMore) return;
    this.mayBeMore = false;
    this.#isCut = false;
    this.#jobs.clear();
    const owners = new Set<string>();
    for (let read = 0; read < READS_MAX; read += 1) {
      const jobs = await this.#store.due({ kind: this.#kind, at, jobsMax: JOBS_MAX, except: [...owners] });
      for (const job of jobs) {
        owners.add(job.owner);
        this.#jobs.set(job.id, this.#taskOf(job));
      }
      if (jobs.length < JOBS_MAX) return;
      this.#isCut = true;
    }
  }

  #taskOf(job: Job): DueJob {
    return { id: job.id, owner: job.owner, upstream: this.#handler.upstreamOf?.(job) };
  }
}
