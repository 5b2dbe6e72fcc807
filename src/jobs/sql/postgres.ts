import type { Parameter, Statements } from "../../storage/index.ts";
import type { Job, JobLease, JobStore, Leased, LeasedJob, LeaseRequest, NewJob, NextRun } from "../store.ts";
import { type JobRow, parametersOf, statementsWith, toJob, toLeasedJobs } from "./rows.ts";

const SQL = statementsWith((index) => `$${index}`, "FOR UPDATE SKIP LOCKED");

/** Jobs on Postgres. */
export class PostgresJobStore implements JobStore {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  put(job: NewJob, lease?: JobLease): Promise<boolean> {
    return this.#changes(SQL.put, parametersOf.put(job, lease));
  }

  async find(id: string): Promise<Job | undefined> {
    const [row] = await this.#statements.run<JobRow>(SQL.find, [id]);
    return row && toJob(row);
  }

  async lease(request: LeaseRequest): Promise<LeasedJob[]> {
    const rows = await this.#statements.run<JobRow>(SQL.lease, parametersOf.lease(request));
    return toLeasedJobs(rows, request);
  }

  async claim(id: string, lease: JobLease, at: number): Promise<LeasedJob | undefined> {
    const [row] = await this.#statements.run<JobRow>(SQL.claim, parametersOf.claim(id, lease, at));
    return row && { ...toJob(row), lease };
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

  async #changes(statement: string, parameters: readonly Parameter[]): Promise<boolean> {
    return (await this.#statements.run(statement, parameters)).length > 0;
  }
}
