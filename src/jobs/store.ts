import type { JsonObject } from "../core/index.ts";

/** A piece of work that outlives the process that requested it. */
export interface NewJob {
  /** Chosen by the caller, so that `put` is idempotent. */
  id: string;
  /** The name of its handler. */
  kind: string;
  /** The user for whom it runs. */
  owner: string;
  /** Everything that the handler needs on any node: plain data. */
  payload: JsonObject;
  /** The job does not run before this moment. */
  runAt: number;
  createdAt: number;
}

export interface Job extends NewJob {
  /** The number of leases since the last run that succeeded, including the current one. */
  attempts: number;
  /** Undefined while the job waits. A finished job is removed: its result belongs to its feature. */
  lease: JobLease | undefined;
}

/** The right to run a job until a moment. */
export interface JobLease {
  /** Unique. A write with the token of an earlier lease changes nothing. */
  token: string;
  /** The name of the process, for a reader of the table. */
  node: string;
  until: number;
}

export interface LeasedJob extends Job {
  lease: JobLease;
}

/** The job of a write, and the lease that permits it. */
export type Leased = Pick<LeasedJob, "id" | "lease">;

export interface LeaseRequest {
  ids: readonly string[];
  lease: JobLease;
  at: number;
}

export interface DueRequest {
  kind: string;
  at: number;
  jobsMax: number;
  /** Owners whose jobs are left out. */
  except: readonly string[];
}

/** The next run of a job that is not done. */
export interface NextRun {
  runAt: number;
  attempts: number;
  /** Replaces the current one. */
  payload?: JsonObject;
}

/** A job as its operator sees it: its payload may contain prompts and addresses. */
export type ListedJob = Omit<Job, "payload">;

export interface JobPage {
  limit: number;
  /** The last id of the page before. */
  after?: string | undefined;
  /** Of this kind only. */
  kind?: string | undefined;
}

export interface WaitingJobs {
  count: number;
  /** Since when the first of them is due; undefined if there are none. */
  oldestAt: number | undefined;
}

/** The jobs' storage on either engine. Each write is one durable commit; a write under a lease resolves with whether that was valid. */
export interface JobStore {
  /**
   * Resolves with whether the job is new. An existing job with this id stays as it is. With a lease, the job's first run
   * is the caller's own.
   */
  put(job: NewJob, lease?: JobLease): Promise<boolean>;
  find(id: string): Promise<Job | undefined>;
  /** Jobs of all users, by id. */
  list(page: JobPage): Promise<ListedJob[]>;
  /** Whether there are jobs whose ids begin with this ASCII text. */
  hasAny(prefix: string): Promise<boolean>;
  /** Jobs that are due and have no lease that runs, by their `runAt`. Changes nothing. */
  due(request: DueRequest): Promise<Job[]>;
  /** The jobs that are due since before a moment, and have no lease that runs at `at`. */
  dueBefore(before: number, at: number): Promise<WaitingJobs>;
  /** Leases those of these jobs that are still due, by their `runAt`. Does not wait for other processes. */
  lease(request: LeaseRequest): Promise<LeasedJob[]>;
  /**
   * Leases one job ahead of its time. Resolves with undefined if there is no such job, or another lease is running. It
   * counts as no attempt.
   */
  claim(id: string, lease: JobLease, at: number): Promise<LeasedJob | undefined>;
  renew(job: Leased, until: number): Promise<boolean>;
  /** Replaces the payload; the lease goes on. */
  rewrite(job: Leased, payload: JsonObject): Promise<boolean>;
  /** Gives the lease back. */
  reschedule(job: Leased, next: NextRun): Promise<boolean>;
  /** Removes the job. */
  finish(job: Leased): Promise<boolean>;
}
