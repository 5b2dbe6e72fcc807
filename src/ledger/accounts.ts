import type { Nano } from "../core/index.ts";

export type AccountKind = "token" | "user" | "organisation";

/** How often a budget starts anew, at midnight UTC of the day or of the month's first day; without one, never. */
export type BudgetPeriod = "daily" | "monthly";

/** One link of a chain, token → user → organisation. */
export interface Account {
  id: string;
  kind: AccountKind;
  name: string;
  parentId: string | undefined;
  /** Whether its balance of granted credits limits it. */
  prepaid: boolean;
  maxBudget: Nano | undefined;
  period: BudgetPeriod | undefined;
}

/** An account with its counters, as of one moment. */
export interface AccountState extends Account {
  creditsPosted: Nano;
  debitsPosted: Nano;
  debitsPending: Nano;
  /** Posted debits since the period began. */
  periodDebits: Nano;
}

/** What is left in one link: the smaller of its balance and its budget, or undefined where neither limits it. */
export function availableOf(account: AccountState): Nano | undefined {
  const { prepaid, maxBudget, creditsPosted, debitsPosted, debitsPending, periodDebits } = account;
  const balance = prepaid ? creditsPosted - debitsPosted - debitsPending : undefined;
  if (maxBudget === undefined) return balance;
  const budget = maxBudget - periodDebits - debitsPending;
  return balance === undefined || budget < balance ? budget : balance;
}

/** The link with the least room: what a call can cost at most. Undefined where nothing limits the chain. */
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

const DAY_MS = 86_400_000;

/** The moment at which the running period began; zero for a budget that never starts anew. */
export function periodStart(period: BudgetPeriod | undefined, at: number): number {
  if (period === undefined) return 0;
  if (period === "daily") return at - (at % DAY_MS);
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

/** The moment at which the running period ends, or undefined for a budget that never starts anew. */
export function periodEnd(period: BudgetPeriod | undefined, at: number): number | undefined {
  if (period === undefined) return undefined;
  const start = new Date(periodStart(period, at));
  const [year, month, day] = [start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()];
  return period === "daily" ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1);
}

/** Account ids say what they are: `user:alice`. */
export function accountId(kind: AccountKind, name: string): string {
  return `${kind}:${name}`;
}
