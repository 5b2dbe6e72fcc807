/** The statements of accounts, which both engines share. */
import { column, sql, type SqlRow, type Statement, tableOf } from "../../storage/index.ts";
import type { Calendar } from "../../core/index.ts";
import type { Account, AccountState } from "../accounts.ts";
import { changedPeriod, periodStart } from "../periods.ts";

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
  period: optional(oneOf({ daily: true, weekly: true, monthly: true, quarterly: true })),
  periodFrom: optional(integer),
  raisedBy: optional(bigInteger),
  raisedUntil: optional(integer),
  markup: optional(integer),
  creditsPosted: bigInteger,
  debitsPosted: bigInteger,
  debitsPending: bigInteger,
  periodDebits: bigInteger,
  periodStart: integer,
});

/** The columns of an account that its state is read from. */
export const accountColumns: Statement = accounts.names;

/** The account as of `at`: spending of an earlier period no longer counts, nor does a raise that is over. */
export function readAccountState(row: SqlRow, at: number, calendar: Calendar): AccountState {
  const { periodStart: startedAt, ...account } = accounts.read(row);
  if ((account.raisedUntil ?? Infinity) <= at) {
    account.raisedBy = undefined;
    account.raisedUntil = undefined;
  }
  if (account.period !== undefined && periodStart(account, at, calendar) > startedAt) account.periodDebits = 0n;
  return account;
}

function insertAccount(account: Account, at: number): Statement {
  const { id, kind, name, parentId, prepaid, maxBudget, period, periodFrom, raisedBy, raisedUntil, markup } = account;
  return sql`INSERT INTO accounts (id, kind, name, parent_id, prepaid, max_budget, period, period_from, raised_by, raised_until,
      created_at, markup)
    VALUES (${id}, ${kind}, ${name}, ${parentId}, ${prepaid}, ${maxBudget}, ${period}, ${periodFrom}, ${raisedBy}, ${raisedUntil},
      ${at}, ${markup})`;
}

/** Creates the account; an existing one stays unchanged. */
export function createAccount(account: Account, at: number): Statement {
  return sql`${insertAccount(account, at)} ON CONFLICT (id) DO NOTHING`;
}

/** Creates the account, or sets the limits of an existing one. */
export function putAccount(account: Account, at: number, calendar: Calendar): Statement {
  const { start, natural } = changedPeriod(account, at, calendar);
  const begins = (): Statement =>
    sql`excluded.period IS NOT NULL AND ${natural} > accounts.period_start AND (excluded.period IS DISTINCT FROM accounts.period
      OR excluded.period_from IS DISTINCT FROM accounts.period_from)`;
  return sql`${insertAccount(account, at)} ON CONFLICT (id)
    DO UPDATE SET prepaid = excluded.prepaid, max_budget = excluded.max_budget, period = excluded.period,
      period_from = excluded.period_from, raised_by = excluded.raised_by, raised_until = excluded.raised_until,
      markup = excluded.markup, period_start = CASE WHEN ${begins()} THEN ${start} ELSE accounts.period_start END,
      period_debits = CASE WHEN ${begins()} THEN 0 ELSE accounts.period_debits END`;
}
