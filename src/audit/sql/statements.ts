import { column, firstOf, LOCK, sql, type Statement, type Steps, tableOf } from "../../storage/index.ts";
import type { AuditRow, AuditState } from "../chain.ts";

const { text, integer, optional } = column;

export const rows = tableOf<AuditRow>({
  number: integer,
  at: integer,
  actor: text,
  act: text,
  target: text,
  address: optional(text),
  requestId: optional(text),
  reason: optional(text),
  before: optional(text),
  after: optional(text),
  hash: text,
});

export const states = tableOf<AuditState>({ number: integer, hash: text, baseNumber: integer, baseHash: text });

export const selectState = sql`SELECT ${states.names} FROM audit_state`;

/** The state, which no other act changes until this one is committed. */
export function lockState(): Steps<AuditState | undefined> {
  return firstOf(sql`SELECT ${states.names} FROM audit_state ${LOCK}`, states.read);
}

export function rowsAfter(number: number, limit: number): Statement {
  return sql`SELECT ${rows.names} FROM audit WHERE number > ${number} ORDER BY number LIMIT ${limit}`;
}

export function rowsBefore(number: number, limit: number): Statement {
  return sql`SELECT ${rows.names} FROM audit WHERE number < ${number} ORDER BY number DESC LIMIT ${limit}`;
}

export function insertRow(row: AuditRow): Statement {
  return sql`INSERT INTO audit (${rows.names}) VALUES (${rows.values(row)})`;
}

export function moveState(number: number, hash: string): Statement {
  return sql`UPDATE audit_state SET number = ${number}, hash = ${hash}`;
}
