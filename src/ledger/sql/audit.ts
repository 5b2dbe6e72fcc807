import type { AuditReport, Drift } from "../store.ts";

/**
 * Recomputes each account's counters from the books. A debit of an account, its refunds from revenue, and its holds
 * also count for each of its parents; an open call counts only for its own account.
 */
export const AUDIT_ACCOUNTS = `
  WITH RECURSIVE
    debits (id, posted, pending) AS (
      SELECT debit_account, sum(amount), 0 FROM entries WHERE kind <> 'grant' GROUP BY debit_account
      UNION ALL
      SELECT credit_account, -sum(amount), 0 FROM entries WHERE kind <> 'grant' GROUP BY credit_account
      UNION ALL
      SELECT account_id, 0, sum(amount) FROM holds GROUP BY account_id
      UNION ALL
      SELECT a.parent_id, d.posted, d.pending FROM debits d JOIN accounts a ON a.id = d.id WHERE a.parent_id IS NOT NULL
    ),
    debit_sums AS (SELECT id, sum(posted) AS posted, sum(pending) AS pending FROM debits GROUP BY id),
    credit_sums AS (SELECT credit_account AS id, sum(amount) AS posted FROM entries WHERE kind = 'grant' GROUP BY credit_account),
    calls AS (SELECT account_id AS id, count(*) AS open FROM holds GROUP BY account_id)
  SELECT a.id, a.credits_posted, a.debits_posted, a.debits_pending, a.open_calls, CAST(coalesce(c.posted, 0) AS bigint) AS entry_credits,
    CAST(coalesce(d.posted, 0) AS bigint) AS entry_debits, CAST(coalesce(d.pending, 0) AS bigint) AS open_pending,
    CAST(coalesce(o.open, 0) AS bigint) AS open_holds
  FROM accounts a LEFT JOIN debit_sums d ON d.id = a.id LEFT JOIN credit_sums c ON c.id = a.id
    LEFT JOIN calls o ON o.id = a.id`;

/**
 * The sum of the books, and the unpaid part. The shortfall of an expired hold no longer counts once a late end has
 * corrected it.
 */
export const AUDIT_TOTALS = `
  SELECT (SELECT count(*) FROM entries) AS entries, (SELECT count(*) FROM holds) AS open_holds,
    CAST(coalesce(sum(shortfall), 0) AS bigint) AS shortfall
  FROM entries e
  WHERE NOT (kind = 'expire' AND EXISTS (SELECT 1 FROM entries late WHERE late.id = e.id || ':late'))`;

export interface AuditRow {
  id: string;
  credits_posted: bigint;
  debits_posted: bigint;
  debits_pending: bigint;
  open_calls: bigint;
  entry_credits: bigint;
  entry_debits: bigint;
  open_pending: bigint;
  open_holds: bigint;
}

export interface AuditTotals {
  entries: bigint;
  open_holds: bigint;
  shortfall: bigint;
}

/** The report of an audit: the results of the two statements, read in one snapshot. */
export function auditReport(rows: readonly AuditRow[], totals: AuditTotals | undefined | null): AuditReport {
  return {
    accounts: rows.length,
    entries: Number(totals?.entries ?? 0n),
    openHolds: Number(totals?.open_holds ?? 0n),
    shortfall: totals?.shortfall ?? 0n,
    drifts: rows.flatMap(driftsOf),
  };
}

function driftsOf(row: AuditRow): Drift[] {
  const counters = [
    { counter: "credits_posted", recorded: row.credits_posted, recomputed: row.entry_credits },
    { counter: "debits_posted", recorded: row.debits_posted, recomputed: row.entry_debits },
    { counter: "debits_pending", recorded: row.debits_pending, recomputed: row.open_pending },
    { counter: "open_calls", recorded: row.open_calls, recomputed: row.open_holds },
  ] as const;
  return counters
    .filter(({ recorded, recomputed }) => recorded !== recomputed)
    .map((counter) => ({ accountId: row.id, ...counter }));
}
