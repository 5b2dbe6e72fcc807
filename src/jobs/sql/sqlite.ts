import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { Job, JobLease, JobStore, Leased, LeasedJob, LeaseRequest, NewJob, NextRun } from "../store.ts";
import { type JobRow, parametersOf, statementsWith, toJob, toLeasedJobs } from "./rows.ts";

/** No lock clause is needed: a statement that writes holds the file's write lock from its first read. */
const SQL = statementsWith((index) => `?${index}`, "");

/** Jobs on SQLite. */
export class SqliteJobStore implements JobStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  put(job: NewJob, lease?: JobLease): Promise<boolean> {
    return this.#changes(SQL.put, parametersOf.put(job, lease));
  }

  find(id: string): Promise<Job | undefined> {
    const [row] = this.#rows<JobRow>(SQL.find, [id]);
    return Promise.resolve(row && toJob(row));
  }

  /** Reads first, since a read needs no write lock and most of the time no job is due. */
  lease(request: LeaseRequest): Promise<LeasedJob[]> {
    if (this.#rows(SQL.due, parametersOf.due(request)).length === 0) return Promise.resolve([]);
    const rows = this.#rows<JobRow>(SQL.lease, parametersOf.lease(request));
    return Promise.resolve(toLeasedJobs(rows, request));
  }

  claim(id: string, lease: JobLease, at: number): Promise<LeasedJob | undefined> {
    const [row] = this.#rows<JobRow>(SQL.claim, parametersOf.claim(id, lease, at));
    return Promise.resolve(row && { ...toJob(row), lease });
  }

  renew(job: Leased, until: number): Promise<boolean> {
    return this.#changes(SQL.renew, parametersOf.renew(job, until));
  }

  reschedule(job: Leased, next: NextRun): Promise<boolean> {
    return this.#changes(SQL.reschedule, parametersOf.reschedule(job, next));
  }

  finish(job: Leased): Promise<boolean> {
    return this.#changes(SQL.finish, parametersOf.held(job));
  }

  #changes(statement: string, parameters: SQLQueryBindings[]): Promise<boolean> {
    return Promise.resolve(this.#rows(statement, parameters).length > 0);
  }

  #rows<Row>(statement: string, parameters: SQLQueryBindings[]): Row[] {
    return this.#database.query<Row, SQLQueryBindings[]>(statement).all(...parameters);
  }
}
