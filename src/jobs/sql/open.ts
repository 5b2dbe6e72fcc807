import { type JsonObject, objectOf } from "../../core/index.ts";
import {
  column,
  LOCK_OR_SKIP,
  readerOf,
  runnerOf,
  sql,
  type SqlRunner,
  type Statement,
  type Storage,
  tableOf,
  textsIn,
} from "../../storage/index.ts";
import type {
  Job,
  JobLease,
  JobPage,
  JobStore,
  DueRequest,
  Leased,
  LeasedJob,
  LeaseRequest,
  ListedJob,
  NewJob,
  NextRun,
  WaitingJobs,
} from "../store.ts";

const { text, integer, json, optional } = column;

const payload = json({ parse: (value) => objectOf(value) ?? {} });

const jobs = tableOf({
  id: text,
  kind: text,
  owner: text,
  payload,
  runAt: integer,
  attempts: integer,
  /** All three of a lease are null, or none is. */
  leaseToken: optional(text),
  leaseNode: optional(text),
  leaseUntil: optional(integer),
  createdAt: integer,
});

const listedJobs = tableOf({
  id: text,
  kind: text,
  owner: text,
  runAt: integer,
  attempts: integer,
  leaseToken: optional(text),
  leaseNode: optional(text),
  leaseUntil: optional(integer),
  createdAt: integer,
});

const waitingJobs = tableOf({ count: integer, oldestAt: optional(integer) });

type ListedRow = ReturnType<typeof listedJobs.read>;

function toJob<Row extends ListedRow>({ leaseToken: token, leaseNode: node, leaseUntil: until, ...job }: Row) {
  const isLeased = token !== undefined && node !== undefined && until !== undefined;
  return { ...job, lease: isLeased ? { token, node, until } : undefined };
}

class SqlJobStore implements JobStore {
  readonly #sql: SqlRunner;
  readonly #reader: SqlRunner;

  constructor(runner: SqlRunner, reader: SqlRunner) {
    this.#sql = runner;
    this.#reader = reader;
  }

  put(job: NewJob, lease?: JobLease): Promise<boolean> {
    return this.#sql.hasRows(insertJob(job, lease));
  }

  find(id: string): Promise<Job | undefined> {
    return this.#sql.first(sql`SELECT ${jobs.names} FROM jobs WHERE id = ${id}`, (row) => toJob(jobs.read(row)));
  }

  list({ limit, after = "", kind }: JobPage): Promise<ListedJob[]> {
    const statement =
      kind === undefined
        ? sql`SELECT ${listedJobs.names} FROM jobs WHERE id > ${after} ORDER BY id LIMIT ${limit}`
        : sql`SELECT ${listedJobs.names} FROM jobs WHERE kind = ${kind} AND id > ${after} ORDER BY id LIMIT ${limit}`;
    return this.#reader.rows(statement, (row) => toJob(listedJobs.read(row)));
  }

  hasAny(prefix: string): Promise<boolean> {
    // The first text behind all that begin with it: ids are compared by their bytes.
    return this.#sql.hasRows(sql`SELECT 1 FROM jobs WHERE id >= ${prefix} AND id < ${`${prefix}~`} LIMIT 1`);
  }

  due({ kind, at, jobsMax, except }: DueRequest): Promise<Job[]> {
    return this.#sql.rows(
      sql`SELECT ${jobs.names} FROM jobs
        WHERE kind = ${kind} AND ${isDue(at)} AND owner NOT IN (${textsIn(except)})
        ORDER BY run_at, id LIMIT ${jobsMax}`,
      (row) => toJob(jobs.read(row)),
    );
  }

  async dueBefore(before: number, at: number): Promise<WaitingJobs> {
    const statement = sql`SELECT count(*) AS count, min(run_at) AS oldest_at FROM jobs
      WHERE run_at < ${before} AND (lease_until IS NULL OR lease_until < ${at})`;
    return (await this.#sql.first(statement, waitingJobs.read)) ?? { count: 0, oldestAt: undefined };
  }

  async lease({ ids, lease, at }: LeaseRequest): Promise<LeasedJob[]> {
    const leased = await this.#sql.rows(
      sql`WITH due AS (SELECT id FROM jobs
          WHERE id IN (${textsIn(ids)}) AND ${isDue(at)} ${LOCK_OR_SKIP})
        UPDATE jobs SET ${setLease(lease)}, attempts = attempts + 1
        WHERE id IN (SELECT id FROM due) RETURNING ${jobs.names}`,
      (row) => ({ ...toJob(jobs.read(row)), lease }),
    );
    // An engine returns them in any order.
    const places = new Map(ids.map((id, place) => [id, place]));
    return leased.toSorted((one, other) => (places.get(one.id) ?? 0) - (places.get(other.id) ?? 0));
  }

  claim(id: string, lease: JobLease, at: number): Promise<LeasedJob | undefined> {
    return this.#sql.first(
      sql`UPDATE jobs SET ${setLease(lease)}
        WHERE id = ${id} AND (lease_until IS NULL OR lease_until < ${at}) RETURNING ${jobs.names}`,
      (row) => ({ ...toJob(jobs.read(row)), lease }),
    );
  }

  renew(job: Leased, until: number): Promise<boolean> {
    return this.#sql.hasRows(sql`UPDATE jobs SET lease_until = ${until} WHERE ${isHeld(job)} RETURNING id`);
  }

  rewrite(job: Leased, next: JsonObject): Promise<boolean> {
    return this.#sql.hasRows(sql`UPDATE jobs SET payload = ${payload.write(next)} WHERE ${isHeld(job)} RETURNING id`);
  }

  reschedule(job: Leased, next: NextRun): Promise<boolean> {
    return this.#sql.hasRows(sql`UPDATE jobs SET lease_token = NULL, lease_node = NULL, lease_until = NULL,
      run_at = ${next.runAt}, attempts = ${next.attempts},
      payload = coalesce(${next.payload && payload.write(next.payload)}, payload)
      WHERE ${isHeld(job)} RETURNING id`);
  }

  finish(job: Leased): Promise<boolean> {
    return this.#sql.hasRows(sql`DELETE FROM jobs WHERE ${isHeld(job)} RETURNING id`);
  }
}

/** Adds a job, and returns its id; an existing one stays, and there is no row. For a statement of a transaction. */
export function insertJob(job: NewJob, lease?: JobLease): Statement {
  const row = { ...job, attempts: 0, leaseToken: lease?.token, leaseNode: lease?.node, leaseUntil: lease?.until };
  return sql`INSERT INTO jobs (${jobs.names}) VALUES (${jobs.values(row)}) ON CONFLICT (id) DO NOTHING RETURNING id`;
}

/** Has a job that waits run at this moment, if that is earlier. For a statement of a transaction. */
export function hurryJob(id: string, at: number): Statement {
  return sql`UPDATE jobs SET run_at = ${at} WHERE id = ${id} AND run_at > ${at}`;
}

const isDue = (at: number): Statement => sql`run_at <= ${at} AND (lease_until IS NULL OR lease_until < ${at})`;

const isHeld = ({ id, lease }: Leased): Statement => sql`id = ${id} AND lease_token = ${lease.token}`;

const setLease = ({ token, node, until }: JobLease): Statement =>
  sql`lease_token = ${token}, lease_node = ${node}, lease_until = ${until}`;

export function openJobStore(storage: Storage): JobStore {
  return new SqlJobStore(runnerOf(storage), readerOf(storage));
}
