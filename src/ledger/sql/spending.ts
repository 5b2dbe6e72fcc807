import { Calendar, dayName, type Nano } from "../../core/index.ts";
import { column, readerOf, sql, type Storage, tableOf, textsIn } from "../../storage/index.ts";
import type { AccountState } from "../accounts.ts";
import { periodStart } from "../periods.ts";
import type { SpendingReader, SpentBalance, SpentBudget } from "../spending.ts";
import { accountColumns, readAccountState } from "./account-statements.ts";

const counts = tableOf({ count: column.integer });

const sums = tableOf({
  userId: column.optional(column.text),
  accountId: column.text,
  parentId: column.optional(column.text),
  day: column.integer,
  credits: column.bigInteger,
});

/** The account of the user or the project of a token's, `t`: that of a browser's session is below the token's. */
const OF_USER = sql`LEFT JOIN accounts p ON p.id = t.parent_id
  LEFT JOIN accounts u ON u.id = CASE p.kind WHEN 'token' THEN p.parent_id ELSE p.id END`;

/** With their moments as days. */
const LATEST = sql`SELECT u.id AS user_id, g.account_id, u.parent_id, g.started_at AS day, g.credits
  FROM generations g JOIN accounts t ON t.id = g.account_id ${OF_USER}
  WHERE g.number > (SELECT number FROM calls_by_owner_mark)`;

export function openSpendingReader(storage: Storage): SpendingReader {
  const runner = readerOf(storage);
  const calendar = new Calendar(storage.timezone);
  return {
    async spentBudgets(at) {
      const accounts = await runner.rows(
        sql`SELECT ${accountColumns} FROM accounts WHERE max_budget > 0 AND period_debits >= max_budget / 2`,
        (row) => readAccountState(row, at, calendar),
      );
      return accounts.map((account) => budgetUse(account, at, calendar)).filter(({ percent }) => percent >= 50);
    },
    async budgetUses(accountIds, at) {
      const accounts = await runner.rows(
        sql`SELECT ${accountColumns} FROM accounts WHERE id IN (${textsIn(accountIds)}) AND max_budget > 0`,
        (row) => readAccountState(row, at, calendar),
      );
      return accounts.map((account) => budgetUse(account, at, calendar));
    },
    async spentBalances(at) {
      const accounts = await runner.rows(sql`SELECT ${accountColumns} FROM accounts WHERE prepaid`, (row) =>
        readAccountState(row, at, calendar),
      );
      if (accounts.length === 0) return [];
      const today = calendar.dayOf(at);
      // By user: the sums are in the order of their owners. After a move, a user's accounts are several.
      const spent = await runner.rows(
        sql`SELECT u.id AS user_id, s.account_id, u.parent_id, s.day, CAST(sum(s.credits) AS bigint) AS credits
          FROM account_holders h JOIN daily_sums s
            ON s.owner = CASE h.kind WHEN 'project' THEN 'project:' || h.id ELSE h.id END AND s.day >= ${today - 1}
            JOIN accounts t ON t.id = s.account_id ${OF_USER}
          WHERE h.kind <> 'organisation' GROUP BY u.id, s.account_id, u.parent_id, s.day`,
        sums.read,
      );
      // On SQLite the latest calls are not in the sums yet.
      const latest = storage.engine === "sqlite" ? await runner.rows(LATEST, sums.read) : [];
      spent.push(...latest.map((call) => ({ ...call, day: calendar.dayOf(call.day) })));
      return lastDays(accounts, spent, { today, passed: passedPart(at, calendar) });
    },
    async holdsLeftBefore(at) {
      const row = await runner.first(sql`SELECT count(*) AS count FROM holds WHERE lease_until < ${at}`, counts.read);
      return row?.count ?? 0;
    },
  };
}

/** The use of a budget of more than zero. */
function budgetUse(account: AccountState, at: number, calendar: Calendar): SpentBudget {
  const { id, period, maxBudget = 0n, raisedBy = 0n, periodDebits } = account;
  const percent = Number((periodDebits * 100n) / (maxBudget + raisedBy));
  return { accountId: id, period: period && dayName(calendar.dayOf(periodStart(account, at, calendar))), percent };
}

/** An account with less than a hundredth of its credits left may be too poor for a call. */
const EMPTY_PART = 100n;

/** The part of the day that is over, in millionths. */
function passedPart(at: number, calendar: Calendar): bigint {
  const day = calendar.dayOf(at);
  const [start, end] = [calendar.startOfDay(day), calendar.startOfDay(day + 1)];
  return BigInt(Math.round(((at - start) * 1e6) / (end - start)));
}

/** A charge of a token counts in its user and in that one's organisation too. */
function lastDays(
  accounts: readonly AccountState[],
  spent: readonly ReturnType<typeof sums.read>[],
  { today, passed }: { today: number; passed: bigint },
): SpentBalance[] {
  const byAccount = new Map<string, Nano>();
  for (const { userId, accountId, parentId, day, credits } of spent) {
    const counted = day < today - 1 ? 0n : day >= today ? credits : (credits * (1_000_000n - passed)) / 1_000_000n;
    for (const id of [accountId, userId, parentId])
      if (id !== undefined) byAccount.set(id, (byAccount.get(id) ?? 0n) + counted);
  }
  return accounts.flatMap(({ id, creditsPosted, debitsPosted, debitsPending }) => {
    const lastDay = byAccount.get(id) ?? 0n;
    const available = creditsPosted - debitsPosted - debitsPending;
    const isEmpty = creditsPosted > 0n && available * EMPTY_PART <= creditsPosted;
    return lastDay > 0n || isEmpty ? [{ accountId: id, available, lastDay }] : [];
  });
}
