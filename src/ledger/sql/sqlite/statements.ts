import type { Database } from "bun:sqlite";
import type { HoldRow } from "../rows.ts";

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

export type AccountValues = [string, string, string, string | null, number, bigint | null, string | null, number];

const INSERT_ACCOUNT = `
  INSERT INTO accounts (id, kind, name, parent_id, prepaid, max_budget, period, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id)`;

/** Every statement of the ledger on SQLite, prepared once. */
export function prepareStatements(database: Database) {
  return {
    dataVersion: database.prepare<{ data_version: bigint }, []>("PRAGMA data_version"),
    account: database.prepare<AccountRow, [string]>("SELECT * FROM accounts WHERE id = ?"),
    accounts: database.prepare<AccountRow, []>("SELECT * FROM accounts ORDER BY id"),
    createAccount: database.prepare<unknown, AccountValues>(`${INSERT_ACCOUNT} DO NOTHING`),
    putAccount: database.prepare<unknown, AccountValues>(`${INSERT_ACCOUNT}
      DO UPDATE SET prepaid = excluded.prepaid, max_budget = excluded.max_budget, period = excluded.period`),
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
