import type { Database } from "bun:sqlite";

/** Rows as SQLite gives them: every integer a bigint. */
export interface AccountRow {
  id: string;
  kind: "token" | "user" | "organisation";
  name: string;
  parent_id: string | null;
  prepaid: bigint;
  max_budget: bigint | null;
  period: "daily" | "monthly" | null;
  credits_posted: bigint;
  debits_posted: bigint;
  debits_pending: bigint;
  period_start: bigint;
  period_debits: bigint;
}

export interface HoldRow {
  id: string;
  account_id: string;
  amount: bigint;
  purpose: string;
  observed: bigint | null;
  lease_until: bigint;
  created_at: bigint;
}

export type EntryKind = "grant" | "settle" | "release" | "expire";

export interface EntryRow {
  id: string;
  kind: EntryKind;
  debit_account: string;
  credit_account: string;
  amount: bigint;
  held: bigint;
  shortfall: bigint;
}

/** Every statement of the ledger on SQLite, prepared once. */
export function prepareStatements(database: Database) {
  return {
    dataVersion: database.prepare<{ data_version: bigint }, []>("PRAGMA data_version"),
    account: database.prepare<AccountRow, [string]>("SELECT * FROM accounts WHERE id = ?"),
    putAccount: database.prepare<
      unknown,
      [string, string, string, string | null, number, bigint | null, string | null, number]
    >(`
      INSERT INTO accounts (id, kind, name, parent_id, prepaid, max_budget, period, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET prepaid = excluded.prepaid, max_budget = excluded.max_budget, period = excluded.period`),
    writeCounters: database.prepare<unknown, [bigint, bigint, bigint, number, bigint, string]>(`
      UPDATE accounts SET credits_posted = ?, debits_posted = ?, debits_pending = ?, period_start = ?, period_debits = ? WHERE id = ?`),
    hold: database.prepare<HoldRow, [string]>("SELECT * FROM holds WHERE id = ?"),
    insertHold: database.prepare<unknown, [string, string, bigint, string, number, number]>(`
      INSERT INTO holds (id, account_id, amount, purpose, lease_until, created_at)
      SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE NOT EXISTS (SELECT 1 FROM entries WHERE id = ?1)
      ON CONFLICT (id) DO NOTHING`),
    takeHold: database.prepare<HoldRow, [string]>("DELETE FROM holds WHERE id = ? RETURNING *"),
    renewHold: database.prepare<unknown, [number, bigint | null, string]>(
      "UPDATE holds SET lease_until = ?, observed = coalesce(?, observed) WHERE id = ?",
    ),
    leftHolds: database.prepare<HoldRow, [number]>(
      "SELECT * FROM holds WHERE lease_until < ? ORDER BY lease_until LIMIT 1000",
    ),
    openHolds: database.prepare<HoldRow, []>("SELECT * FROM holds ORDER BY created_at, id"),
    entry: database.prepare<EntryRow, [string]>("SELECT * FROM entries WHERE id = ?"),
    insertEntry: database.prepare<unknown, [string, EntryKind, string, string, bigint, bigint, bigint, number]>(`
      INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`),
  };
}

export type LedgerStatements = ReturnType<typeof prepareStatements>;

/**
 * Recomputes each account's counters from the books. A debit of an account, what comes back to it from revenue, and what
 * a hold sets aside in it, count in each of its parents too.
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
    credit_sums AS (SELECT credit_account AS id, sum(amount) AS posted FROM entries WHERE kind = 'grant' GROUP BY credit_account)
  SELECT a.id, a.credits_posted, a.debits_posted, a.debits_pending,
    coalesce(c.posted, 0) AS entry_credits, coalesce(d.posted, 0) AS entry_debits, coalesce(d.pending, 0) AS open_pending
  FROM accounts a LEFT JOIN debit_sums d ON d.id = a.id LEFT JOIN credit_sums c ON c.id = a.id`;

export interface AuditRow {
  id: string;
  credits_posted: bigint;
  debits_posted: bigint;
  debits_pending: bigint;
  entry_credits: bigint;
  entry_debits: bigint;
  open_pending: bigint;
}
