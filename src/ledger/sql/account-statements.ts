/** The statements of accounts, which both engines share. */
import { column, sql, type SqlRow, type Statement, tableOf } from "../../storage/index.ts";
import type { Calendar } from "../../core/index.ts";
import { type Account, type AccountState, changedPeriod, periodStart } from "../accounts.ts";

const { text, integer, bigInteger, flag, oneOf, optional } = column;

interface StoredAccount extends AccountState {
  periodStart: number;
}

const accounts = tableOf<StoredAccount>({
  id: text,
  kind: oneOf({ token: true, user: true, organisation: true, project: true, budget: true }),
  name: text,
  parentId: optional(text),
  prepaid: flag,
  maxBudget: optional(bigInteger),
  period: optional(oneOf({ daily: true, monthly: true })),
  markup: optional(integer),
  creditsPosted: bigInteger,
  debitsPosted: bigInteger,
  debitsPending: bigInteger,
  periodDebits: bigInteger,
  periodStart: integer,
});

/** The columns of an account that its state is read from. */
export const accountColumns: Statement = accounts.names;

/** The account as of `at`: spending of an earlier period no longer counts. */
export function readAccountState(row: SqlRow, at: number, calendar: Calendar): AccountState {
  const { periodStart: startedAt, ...account } = accounts.read(row);
  const { period } = account;
  const isNewPeriod = period !== undefined && periodStart(period, at, calendar) > startedAt;
  return isNewPeriod ? { ...account, periodDebits: 0n } : account;
}

function insertAccount(account: Account, at: number): Statement {
  const { id, kind, name, parentId, prepaid, maxBudget, period, markup } = account;
  return sql`INSERT INTO accounts (id, kind, name, parent_id, prepaid, max_budget, period, created_at, markup)
    VALUES (${id}, ${kind}, ${name}, ${parentId}, ${prepaid}, ${maxBudget}, ${period}, ${at}, ${markup})`;
}

/** Creates the account; an existing one stays unchanged. */
export function createAccount(account: Account, at: number): Statement {
  return sql`${insertAccount(account, at)} ON CONFLICT (id) DO NOTHING`;
}

/** Creates the account, or sets the limits of an existing one. */
export function putAccount(account: Account, at: number, calendar: Calendar): Statement {
  const { start, natural } = changedPeriod(account.period, at, calendar);
  const begins = (): Statement =>
    sql`excluded.period IS NOT NULL AND excluded.period IS DISTINCT FROM accounts.period AND ${natural} > accounts.period_start`;
  return sql`${insertAccount(account, at)} ON CONFLICT (id)
    DO UPDATE SET prepaid = excluded.prepaid, max_budget = excluded.max_budget, period = excluded.period,
      markup = excluded.markup, period_start = CASE WHEN ${begins()} THEN ${start} ELSE accounts.period_start END,
      period_debits = CASE WHEN ${begins()} THEN 0 ELSE accounts.period_debits END`;
}
