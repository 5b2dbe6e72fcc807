import type { Calendar, Nano } from "../core/index.ts";

/** A budget's account is in no chain: it stands beside those of the calls that it counts. */
export type AccountKind = "token" | "user" | "organisation" | "project" | "budget";

/** How often a budget restarts: at midnight of each day, or of the month's first day; without a period, never. */
export type BudgetPeriod = "daily" | "weekly" | "monthly" | "quarterly";

/** One account of a chain token → user → organisation. */
export interface Account {
  id: string;
  kind: AccountKind;
  name: string;
  parentId: string | undefined;
  /** Whether the account is limited by its balance of granted credits. */
  prepaid: boolean;
  maxBudget: Nano | undefined;
  period: BudgetPeriod | undefined;
  /** The factor on the prices of an organisation's calls, in millionths, in place of the configuration's; undefined for that. */
  markup?: number | undefined;
}

/** An account with its counters at one time. */
export interface AccountState extends Account {
  creditsPosted: Nano;
  debitsPosted: Nano;
  debitsPending: Nano;
  /** Posted debits since the period began. */
  periodDebits: Nano;
}

/** The available credits of one account: the smaller of its balance and its budget, or undefined without a limit. */
export function availableOf(account: AccountState): Nano | undefined {
  const { prepaid, maxBudget, creditsPosted, debitsPosted, debitsPending, periodDebits } = account;
  const balance = prepaid ? creditsPosted - debitsPosted - debitsPending : undefined;
  if (maxBudget === undefined) return balance;
  const budget = maxBudget - periodDebits - debitsPending;
  return balance === undefined || budget < balance ? budget : balance;
}

/**
 * The account with the least available credits, which is the most that a call can cost. Undefined if the chain has no
 * limit.
 */
export function tightestAccount(chain: readonly AccountState[]): AccountState | undefined {
  let tightest: AccountState | undefined;
  let least: Nano | undefined;
  for (const account of chain) {
    const room = availableOf(account);
    if (room === undefined || (least !== undefined && room >= least)) continue;
    tightest = account;
    least = room;
  }
  return tightest;
}

/** The start of the running period; zero for a budget without a period. */
export function periodStart(period: BudgetPeriod | undefined, at: number, calendar: Calendar): number {
  if (period === undefined) return 0;
  return period === "daily" ? calendar.startOfDay(calendar.dayOf(at)) : calendar.startOfMonth(at);
}

/** The end of the running period; undefined for a budget without a period. */
export function periodEnd(period: BudgetPeriod | undefined, at: number, calendar: Calendar): number | undefined {
  if (period === undefined) return undefined;
  return period === "daily" ? calendar.startOfDay(calendar.dayOf(at) + 1) : calendar.startOfMonth(at, 1);
}

/**
 * A budget's period may change while calls run. If that begins a new one, it begins this much later, and the charges
 * until then get its first date: so none that was posted before has a date in it, whichever node's clock gave that.
 */
const CLOCKS_DIFFER_MS_MAX = 10_000;

/** The start of the period that a change at this time begins, and the least start at which none has to begin. */
export function changedPeriod(period: BudgetPeriod | undefined, at: number, calendar: Calendar) {
  return { start: at + CLOCKS_DIFFER_MS_MAX, natural: periodStart(period, at, calendar) };
}

/** Account ids contain their kind: `user:alice`. */
export function accountId(kind: AccountKind, name: string): string {
  return `${kind}:${name}`;
}
