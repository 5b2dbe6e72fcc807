import type { AuditRow } from "../audit/index.ts";

/** A row of the audit log, in answers and CLI output. */
export function auditJson({
  number,
  at,
  actor,
  act,
  target,
  address,
  requestId,
  reason,
  before,
  after,
  hash,
}: AuditRow) {
  return {
    object: "audit" as const,
    number,
    at: new Date(at).toISOString(),
    actor,
    act,
    target,
    address: address ?? null,
    request_id: requestId ?? null,
    reason: reason ?? null,
    before: before === undefined ? null : (JSON.parse(before) as Record<string, unknown>),
    after: after === undefined ? null : (JSON.parse(after) as Record<string, unknown>),
    hash,
  };
}
