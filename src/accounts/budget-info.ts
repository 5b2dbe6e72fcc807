import type { Calendar, Nano } from "../core/index.ts";
import { type AccountState, type BudgetPeriod, periodEnd, availableOf, tightestAccount } from "../ledger/index.ts";

/** The limits of one account of a chain, and its spending. */
export interface LevelBudget {
  kind: AccountState["kind"];
  name: string;
  /** Granted credits less posted debits; undefined if the account has no credits of its own. */
  balance: Nano | undefined;
  /** The budget of the running period, or all credits ever granted; undefined if the account has no limit. */
  maxBudget: Nano | undefined;
  /** Posted debits that count against `maxBudget`. */
  spend: Nano;
  held: Nano;
  /** The most that a call can cost; undefined if the account has no limit. */
  available: Nano | undefined;
  /** How often the budget restarts. */
  period: BudgetPeriod | undefined;
  /** The next restart, in milliseconds since the epoch. */
  periodReset: number | undefined;
}

/** A caller's budgets: one per account, from the token upwards, and the tightest one, which is in effect. */
export interface BudgetInfo {
  effective: LevelBudget | undefined;
  levels: LevelBudget[];
}

/** `beside`: the accounts of budgets for all models beside the chain, which bound every call too. */
export function budgetInfo(
  chain: readonly AccountState[],
  at: number,
  calendar: Calendar,
  beside: readonly AccountState[] = [],
): BudgetInfo {
  const tightest = tightestAccount([...chain, ...beside]);
  return {
    effective: tightest === undefined ? undefined : levelBudget(tightest, at, calendar),
    levels: chain.map((account) => levelBudget(account, at, calendar)),
  };
}

export function levelBudget(account: AccountState, at: number, calendar: Calendar): LevelBudget {
  const { kind, name, prepaid, creditsPosted, debitsPosted, maxBudget } = account;
  // Only budgets have a period: credits are not restored at midnight.
  const period = maxBudget === undefined ? undefined : account.period;
  return {
    kind,
    name,
    balance: prepaid ? creditsPosted - debitsPosted : undefined,
    maxBudget: maxBudget === undefined ? (prepaid ? creditsPosted : undefined) : maxBudget + (account.raisedBy ?? 0n),
    spend: maxBudget === undefined ? debitsPosted : account.periodDebits,
    held: account.debitsPending,
    available: availableOf(account),
    period,
    periodReset: periodEnd({ ...account, period }, at, calendar),
  };
}
