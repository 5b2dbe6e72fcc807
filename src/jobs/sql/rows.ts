import { parseObject } from "../../core/index.ts";
import type { Job, JobLease, Leased, LeasedJob, LeaseRequest, NewJob, NextRun } from "../store.ts";

/** A row of `jobs`, as either engine gives it. */
export interface JobRow {
  id: string;
  kind: string;
  owner: string;
  payload: string;
  run_at: bigint;
  attempts: bigint;
  /** All three of a lease are null, or none is. */
  lease_token: string | null;
  lease_node: string | null;
  lease_until: bigint | null;
  created_at: bigint;
}

export function toJob(row: JobRow): Job {
  const { lease_token: token, lease_node: node, lease_until: until } = row;
  const isLeased = token !== null && node !== null && until !== null;
  return {
    id: row.id,
    kind: row.kind,
    owner: row.owner,
    // Written by the store itself.
    payload: parseObject(row.payload) ?? {},
    runAt: Number(row.run_at),
    createdAt: Number(row.created_at),
    attempts: Number(row.attempts),
    lease: isLeased ? { token, node, until: Number(until) } : undefined,
  };
}

/** The rows of a lease by their `runAt`: an engine returns them in any order. */
export function toLeasedJobs(rows: readonly JobRow[], { lease }: LeaseRequest): LeasedJob[] {
  return rows.map((row) => ({ ...toJob(row), lease })).toSorted((a, b) => a.runAt - b.runAt);
}

/** The parameters of the statements, in their order. */
export const parametersOf = {
  put: (
    { id, kind, owner, payload, runAt, createdAt }: NewJob,
    lease?: JobLease,
  ): [string, string, string, string, number, number, string | null, string | null, number | null] => [
    id,
    kind,
    owner,
    JSON.stringify(payload),
    runAt,
    createdAt,
    lease?.token ?? null,
    lease?.node ?? null,
    lease?.until ?? null,
  ],
  due: ({ kind, at, jobsMax }: LeaseRequest): [string, number, number] => [kind, at, jobsMax],
  lease: (request: LeaseRequest): [string, number, number, string, string, number] => {
    const { token, node, until } = request.lease;
    return [...parametersOf.due(request), token, node, until];
  },
  claim: (id: string, { token, node, until }: JobLease, at: number): [string, number, string, string, number] => [
    id,
    at,
    token,
    node,
    until,
  ],
  held: ({ id, lease }: Leased): [string, string] => [id, lease.token],
  renew: (job: Leased, until: number): [string, string, number] => [...parametersOf.held(job), until],
  reschedule: (job: Leased, next: NextRun): [string, string, number, number, string | null] => [
    ...parametersOf.held(job),
    next.runAt,
    next.attempts,
    next.payload === undefined ? null : JSON.stringify(next.payload),
  ],
};

/**
 * The statements. The engines differ in the names of parameters and in `lock`, the clause that skips rows which another
 * process is leasing.
 */
export function statementsWith(parameter: (index: number) => string, lock: string) {
  const [p1, p2, p3, p4, p5, p6, p7, p8, p9] = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(parameter);
  const due = `SELECT id FROM jobs
    WHERE kind = ${p1} AND run_at <= ${p2} AND (lease_until IS NULL OR lease_until < ${p2})
    ORDER BY run_at, id LIMIT ${p3}`;
  const held = `id = ${p1} AND lease_token = ${p2}`;
  return {
    put: `INSERT INTO jobs (id, kind, owner, payload, run_at, created_at, lease_token, lease_node, lease_until)
      VALUES (${p1}, ${p2}, ${p3}, ${p4}, ${p5}, ${p6}, ${p7}, ${p8}, ${p9})
      ON CONFLICT (id) DO NOTHING RETURNING id`,
    find: `SELECT * FROM jobs WHERE id = ${p1}`,
    due,
    lease: `WITH due AS (${due} ${lock})
      UPDATE jobs SET lease_token = ${p4}, lease_node = ${p5}, lease_until = ${p6}, attempts = attempts + 1
      WHERE id IN (SELECT id FROM due) RETURNING *`,
    claim: `UPDATE jobs SET lease_token = ${p3}, lease_node = ${p4}, lease_until = ${p5}
      WHERE id = ${p1} AND (lease_until IS NULL OR lease_until < ${p2}) RETURNING *`,
    renew: `UPDATE jobs SET lease_until = ${p3} WHERE ${held} RETURNING id`,
    reschedule: `UPDATE jobs SET lease_token = NULL, lease_node = NULL, lease_until = NULL, run_at = ${p3}, attempts = ${p4},
      payload = coalesce(${p5}, payload) WHERE ${held} RETURNING id`,
    finish: `DELETE FROM jobs WHERE ${held} RETURNING id`,
  };
}
