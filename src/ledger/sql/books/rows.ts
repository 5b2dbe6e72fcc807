import type { HeldNow } from "../../books.ts";
import type { SumColumn } from "../sums/sum-columns.ts";

/** Rows that both engines read for an audit or a seal: every integer is a bigint. */
export interface StateRow {
  closed_before: bigint;
  sealed_before: bigint;
  sealed_entries: bigint;
  sealed_shortfall: bigint;
  removed_before: bigint;
}

export const STATE =
  "SELECT closed_before, sealed_before, sealed_entries, sealed_shortfall, removed_before FROM ledger_state";

export interface CountersRow {
  id: string;
  parent_id: string | null;
  credits_posted: bigint;
  debits_posted: bigint;
  debits_pending: bigint;
  open_calls: bigint;
  period_start: bigint;
  period_debits: bigint;
}

export const COUNTERS = `
  SELECT id, parent_id, credits_posted, debits_posted, debits_pending, open_calls, period_start, period_debits
  FROM accounts ORDER BY id`;

export interface OpeningRow {
  account_id: string;
  credits_posted: bigint;
  debits_posted: bigint;
  period_start: bigint;
  period_debits: bigint;
}

export const OPENINGS = "SELECT * FROM opening_balances";

export interface HoldsRow {
  account_id: string;
  open: bigint;
  /** Those that are calls, and of these those that the accounts above count too. */
  calls: bigint;
  calls_above: bigint;
  amount: bigint;
  /** JSON: the accounts of the budgets that they count in too. */
  budgets: string | null;
}

/** `above` is the condition of a hold that the accounts above its own count as open. */
export const holdsOf = (above: string): string =>
  `SELECT account_id, budgets, count(*) AS open,
    count(CASE WHEN is_part IS NOT TRUE THEN 1 END) AS calls,
    count(CASE WHEN ${above} AND is_part IS NOT TRUE THEN 1 END) AS calls_above,
    CAST(sum(amount) AS bigint) AS amount FROM holds GROUP BY account_id, budgets`;

export interface HeldNowRow {
  open: bigint;
  amount: bigint;
  oldest: bigint | null;
}

export const HELD_NOW =
  "SELECT count(*) AS open, CAST(coalesce(sum(amount), 0) AS bigint) AS amount, min(created_at) AS oldest FROM holds";

export function heldNowOf({ open, amount, oldest }: HeldNowRow): HeldNow {
  return { open: Number(open), amount, oldestAt: oldest === null ? undefined : Number(oldest) };
}

/** Entries between the same two accounts. */
export interface EntriesRow {
  debit_account: string;
  credit_account: string;
  /** 1 for grants, also those that take credits back. */
  is_grant: bigint;
  entries: bigint;
  amount: bigint;
  shortfall: bigint;
  /** JSON, as of holds. */
  budgets: string | null;
}

/** The shortfall of an expired hold no longer counts once a late end has corrected it. */
export const entriesOf = (condition: string): string => `
  SELECT debit_account, credit_account, CAST(CASE kind WHEN 'grant' THEN 1 ELSE 0 END AS bigint) AS is_grant, count(*) AS entries,
    CAST(sum(amount) AS bigint) AS amount, CAST(sum(shortfall - coalesce(corrects_shortfall, 0)) AS bigint) AS shortfall, budgets
  FROM entries WHERE ${condition} GROUP BY 1, 2, 3, budgets`;

/** The spending of an account's period, from entries of its own and of the accounts below it, or of those that name the budget. */
export interface SpendingRow {
  id: string;
  amount: bigint;
}

/**
 * The spending of all accounts whose period has a start; that of the others is all that was ever charged. A return
 * counts in the period of the charge that it corrects. `named` are the budgets of an entry, as a table with a column `value`.
 */
export const spendingOf = (condition: string, named: string): string => `
  WITH RECURSIVE
    links (leaf, id) AS (
      SELECT id, id FROM accounts
      UNION ALL SELECT l.leaf, a.parent_id FROM links l JOIN accounts a ON a.id = l.id WHERE a.parent_id IS NOT NULL),
    periods (leaf, id, start) AS (
      SELECT l.leaf, l.id, a.period_start FROM links l JOIN accounts a ON a.id = l.id WHERE a.period_start > 0)
  SELECT p.id, CAST(sum(CASE e.debit_account WHEN 'revenue' THEN -e.amount ELSE e.amount END) AS bigint) AS amount
  FROM entries e JOIN periods p ON p.leaf = CASE e.debit_account WHEN 'revenue' THEN e.credit_account ELSE e.debit_account END
  WHERE e.kind <> 'grant' AND e.created_at >= p.start AND ${condition}
    AND (e.debit_account <> 'revenue' OR coalesce(e.corrects_at, 0) >= p.start)
  GROUP BY p.id
  UNION ALL
  SELECT a.id, CAST(sum(CASE e.debit_account WHEN 'revenue' THEN -e.amount ELSE e.amount END) AS bigint) AS amount
  FROM entries e, ${named} j, (SELECT id, period_start FROM accounts) a
  WHERE e.budgets IS NOT NULL AND a.id = j.value AND a.period_start > 0 AND e.created_at >= a.period_start AND ${condition}
    AND (e.debit_account <> 'revenue' OR coalesce(e.corrects_at, 0) >= a.period_start)
  GROUP BY a.id`;

/** The columns by which a sum of a day is found; of a month, its first day. */
export interface SumKeyRow {
  owner: string;
  day: bigint;
  account_id: string;
  provider: string;
  model: string;
  operation: string;
  tags: string;
}

/** A sum of a day, without what was removed, or the calls that it must contain. */
export type SumRow = SumKeyRow & Record<SumColumn, bigint>;

/** The units of a day in one bucket, or those of the calls that they must contain. */
export interface UnitsRow extends SumKeyRow {
  bucket: string;
  units: bigint;
}
