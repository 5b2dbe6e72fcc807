import type { Database } from "bun:sqlite";
import type { AccountKind } from "../../accounts.ts";
import type { BudgetRow } from "../call-budgets.ts";
import type { HoldKeeper } from "../../operations.ts";
import type { BudgetPeriod } from "../../periods.ts";
import { generationColumns } from "../generations.ts";
import type { RetryKeyColumns } from "../answers.ts";
import type { HoldRow } from "../rows.ts";
import { sumColumns } from "../sums/sum-columns.ts";
import {
  ADD_SUMS,
  ADD_UNITS,
  countingCalls,
  INSERT_SUMS,
  INSERT_UNITS,
  UTC_DAY,
  ZONE_DAY,
} from "../sums/sqlite-sums.ts";

/** Rows from SQLite: every integer is a bigint. */
export interface AccountRow {
  id: string;
  kind: AccountKind;
  name: string;
  parent_id: string | null;
  prepaid: bigint;
  max_budget: bigint | null;
  markup: bigint | null;
  period: BudgetPeriod | null;
  period_from: bigint | null;
  raised_by: bigint | null;
  raised_until: bigint | null;
  credits_posted: bigint;
  debits_posted: bigint;
  debits_pending: bigint;
  period_start: bigint;
  period_debits: bigint;
  minute_began: bigint;
  minute_requests: bigint;
  minute_tokens: bigint;
  open_calls: bigint;
  has_budgets: bigint;
}

export interface SqliteHoldRow extends HoldRow {
  dialect: string | null;
  streamed: bigint;
}

export type StoredEntryKind = "grant" | "settle" | "release" | "expire";

export interface EntryRow {
  number: bigint;
  id: string;
  kind: StoredEntryKind;
  debit_account: string;
  credit_account: string;
  amount: bigint;
  held: bigint;
  shortfall: bigint;
  created_at: bigint;
  /** Of a late end or a refund. */
  corrects_at: bigint | null;
  /** JSON. */
  budgets: string | null;
}

/** The row of `ledger_state`. */
export interface DatesRow {
  timezone: string;
  closed_before: bigint;
}

/** The part of an entry's call that the sums contain. */
export interface CountedCallRow {
  owner: string;
  started_at: bigint;
  account_id: string;
  provider: string;
  model: string;
  operation: string;
  tags: string | null;
  outcome: string;
  input_tokens: bigint;
  output_tokens: bigint;
  credits: bigint;
  list_credits: bigint | null;
  /** JSON. */
  usage: string;
  first_byte_ms: number | null;
}

/** A row of `retry_keys`: a claim, or an answer. */
type Counters = [bigint, bigint, bigint, number, bigint, number, number, number, number];
type Text = string | null;
type Count = number | null;
type HoldValues = [
  ...[id: string, account: string, amount: bigint],
  ...[operation: string, provider: string, model: string, dialect: Text, streamed: number],
  ...[
    leaseUntil: number,
    createdAt: number,
    tokens: number,
    retryKey: Text,
    parent: Text,
    session: Text,
    budgets: Text,
    isPart: Count,
  ],
];
type JobValues = [
  ...[id: string, kind: string, owner: string, payload: string, runAt: number, createdAt: number],
  ...[leaseToken: Text, leaseNode: Text, leaseUntil: Count],
];
type Correction = [correctsAt: bigint | null, correctsShortfall: bigint | null];
type Posting = [actor: Text, reason: Text, budgets: Text];
type EntryValues = [string, StoredEntryKind, string, string, bigint, bigint, bigint, number, ...Correction, ...Posting];
export type SumKey = [
  owner: string,
  day: number,
  account: string,
  provider: string,
  model: string,
  operation: string,
  tags: string,
];
/** A value of `generationColumns`: of the record of the call that an entry ended. */
export type CallValue = string | number | boolean | null;

/** The calls of some entries that have not been counted. */
const OF_RANGE = "number > ? AND number <= ?";

const [sumCallsUtc = "", sumUnitsUtc = ""] = countingCalls(UTC_DAY, OF_RANGE);
const [sumCalls = "", sumUnits = ""] = countingCalls(ZONE_DAY, OF_RANGE);

/** Every statement of the ledger on SQLite, prepared once. */
export function prepareStatements(database: Database) {
  return {
    dataVersion: database.prepare<{ data_version: bigint }, []>("PRAGMA data_version"),
    schemaVersion: database.prepare<{ user_version: bigint }, []>("PRAGMA user_version"),
    account: database.prepare<AccountRow, [string]>("SELECT * FROM accounts WHERE id = ?"),
    budgets: database.prepare<BudgetRow, [string]>(`
      SELECT b.id, g.models FROM budgets b LEFT JOIN model_groups g ON g.id = b.group_id
      WHERE b.account_id = ? AND b.deleted_at IS NULL ORDER BY b.id`),
    state: database.prepare<DatesRow, []>("SELECT timezone, closed_before FROM ledger_state"),
    writeCounters: database.prepare<unknown, [...Counters, string]>(`
      UPDATE accounts SET credits_posted = ?, debits_posted = ?, debits_pending = ?, period_start = ?, period_debits = ?,
        minute_began = ?, minute_requests = ?, minute_tokens = ?, open_calls = ? WHERE id = ?`),
    hold: database.prepare<SqliteHoldRow, [string]>("SELECT * FROM holds WHERE id = ?"),
    insertHold: database.prepare<unknown, HoldValues>(`
      INSERT INTO holds (id, account_id, amount, operation, provider, model, dialect, streamed, lease_until, created_at, tokens,
        retry_key, parent, session, budgets, is_part)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`),
    insertJob: database.prepare<unknown, JobValues>(`
      INSERT INTO jobs (id, kind, owner, payload, run_at, created_at, lease_token, lease_node, lease_until)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`),
    deleteHold: database.prepare<unknown, [string]>("DELETE FROM holds WHERE id = ?"),
    renewHold: database.prepare<unknown, [number, bigint | null, HoldKeeper | null, string]>(
      // A late hand-over never shortens the lease that the job has been given since.
      `UPDATE holds SET lease_until = CASE WHEN ?3 = 'job' AND keeper = 'job' THEN max(lease_until, ?1) ELSE ?1 END,
        observed = coalesce(?2, observed), keeper = coalesce(?3, keeper) WHERE id = ?4`,
    ),
    raiseHold: database.prepare<unknown, [bigint, string]>("UPDATE holds SET amount = ? WHERE id = ?"),
    moveHold: database.prepare<unknown, [bigint, string, string, Text, string]>(
      "UPDATE holds SET amount = ?, provider = ?, model = ?, budgets = ? WHERE id = ?",
    ),
    leftHolds: database.prepare<SqliteHoldRow, [number]>(
      "SELECT * FROM holds WHERE lease_until < ? ORDER BY lease_until LIMIT 1000",
    ),
    openHolds: database.prepare<SqliteHoldRow, []>("SELECT * FROM holds ORDER BY created_at, id"),
    addSum: database.prepare<unknown, [...SumKey, ...(number | bigint)[]]>(
      `${INSERT_SUMS} VALUES (?, ?, ?, ?, ?, ?, ?${", ?".repeat(sumColumns.length)}) ${ADD_SUMS}`,
    ),
    addUnits: database.prepare<unknown, [...SumKey, bucket: string, units: bigint]>(
      `${INSERT_UNITS} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ${ADD_UNITS}`,
    ),
    sumCallsUtc: database.prepare<unknown, [bigint, bigint]>(sumCallsUtc),
    sumCalls: database.prepare<unknown, [bigint, bigint]>(sumCalls),
    sumUnitsUtc: database.prepare<unknown, [bigint, bigint]>(sumUnitsUtc),
    sumUnits: database.prepare<unknown, [bigint, bigint]>(sumUnits),
    startsOfCalls: database.prepare<{ first: bigint | null; last: bigint | null }, [bigint, bigint]>(
      "SELECT min(started_at) AS first, max(started_at) AS last FROM entries WHERE number > ? AND number <= ?",
    ),
    storeDay: database.prepare<unknown, [number, number]>("INSERT OR REPLACE INTO days (start, day) VALUES (?, ?)"),
    countedCall: database.prepare<CountedCallRow, [bigint]>(`
      SELECT owner, started_at, account_id, provider, model, operation, tags, outcome, input_tokens, output_tokens, credits,
        list_credits, usage, first_byte_ms FROM generations WHERE number = ?`),
    ...prepareEntryStatements(database),
    ...prepareCallStatements(database),
  };
}

function prepareEntryStatements(database: Database) {
  return {
    entry: database.prepare<EntryRow, [string]>(
      "SELECT number, id, kind, debit_account, credit_account, amount, held, shortfall, created_at, corrects_at, budgets FROM entries WHERE id = ?",
    ),
    lastEntry: database.prepare<{ id: string }, []>("SELECT id FROM entries ORDER BY id DESC LIMIT 1"),
    latestEntry: database.prepare<{ created_at: bigint | null }, []>(
      // Late ones may be any number of the last entries: each knows the latest time before it.
      `SELECT max(at) AS created_at FROM (
        SELECT max(created_at) AS at FROM (SELECT created_at FROM entries ORDER BY number DESC LIMIT 100)
        UNION ALL SELECT * FROM (SELECT latest FROM late_entries ORDER BY number DESC LIMIT 1))`,
    ),
    insertLate: database.prepare<unknown, [bigint, number, number]>(
      "INSERT INTO late_entries (number, created_at, latest) VALUES (?, ?, ?)",
    ),
    insertEntry: database.prepare<unknown, [...EntryValues, ...CallValue[]]>(`
      INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at, corrects_at,
        corrects_shortfall, actor, reason, budgets, ${generationColumns.join(", ")})
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?${", ?".repeat(generationColumns.length)})`),
  };
}

/** Rows about calls besides the books. The index tolerates duplicates: it must never prevent a charge. */
function prepareCallStatements(database: Database) {
  return {
    replaceCall: database.prepare<unknown, [...CallValue[], bigint, bigint]>(`
      UPDATE entries SET ${generationColumns.map((name) => `${name} = ?`).join(", ")}, credits = ? WHERE number = ?`),
    correctCredits: database.prepare<unknown, [bigint, bigint]>("UPDATE entries SET credits = ? WHERE number = ?"),
    mark: database.prepare<{ number: bigint }, []>("SELECT number FROM calls_by_owner_mark"),
    moveMark: database.prepare<unknown, [bigint]>("UPDATE calls_by_owner_mark SET number = ?"),
    indexCalls: database.prepare<unknown, [bigint, bigint]>(`
      INSERT INTO calls_by_owner (owner, started_at, number)
      SELECT owner, started_at, number FROM generations WHERE number > ? AND number <= ? ON CONFLICT DO NOTHING`),
    indexCall: database.prepare<unknown, [bigint]>(`
      INSERT INTO calls_by_owner (owner, started_at, number)
      SELECT owner, started_at, number FROM generations
      WHERE number = ? AND number <= (SELECT number FROM calls_by_owner_mark) ON CONFLICT DO NOTHING`),
    unindexCall: database.prepare<unknown, [bigint]>(`
      DELETE FROM calls_by_owner
      WHERE (owner, started_at, number) = (SELECT owner, started_at, number FROM generations WHERE number = ?)`),
    tokenUser: database.prepare<{ user_name: string }, [string]>("SELECT user_name FROM tokens WHERE id = ?"),
    retryKey: database.prepare<RetryKeyColumns, [string, string]>(`
      SELECT *, EXISTS (SELECT 1 FROM holds WHERE id = hold_id) AS running FROM retry_keys WHERE account_id = ? AND key = ?`),
    claimRetryKey: database.prepare<unknown, [string, string, string, string, number]>(`
      INSERT OR REPLACE INTO retry_keys (account_id, key, fingerprint, hold_id, kept_until) VALUES (?, ?, ?, ?, ?)`),
    keepAnswer: database.prepare<unknown, [number, string, Uint8Array, number, string, string, string]>(`
      UPDATE retry_keys SET status = ?, headers = ?, body = ?, kept_until = ?
      WHERE account_id = ? AND key = ? AND hold_id = ? AND status IS NULL`),
    keepUntil: database.prepare<unknown, [number, string, string, string]>(`
      UPDATE retry_keys SET kept_until = ? WHERE account_id = ? AND key = ? AND hold_id = ? AND status IS NOT NULL`),
    freeRetryKey: database.prepare<unknown, [string, string, string]>(
      "DELETE FROM retry_keys WHERE account_id = ? AND key = ? AND hold_id = ? AND status IS NULL",
    ),
    forgetAnswers: database.prepare<unknown, [number]>(`
      DELETE FROM retry_keys WHERE (account_id, key) IN (
        SELECT account_id, key FROM retry_keys
        WHERE kept_until < ? AND (status IS NOT NULL OR NOT EXISTS (SELECT 1 FROM holds WHERE id = hold_id))
        ORDER BY kept_until LIMIT 5000)`),
  };
}

export type LedgerStatements = ReturnType<typeof prepareStatements>;
