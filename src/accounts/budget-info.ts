import type { Nano } from "../core/index.ts";
import { type AccountState, type BudgetPeriod, periodEnd, availableOf, tightestAccount } from "../ledger/index.ts";

/** What one link of a chain allows, and what has been used of it. */
export interface LevelBudget {
  kind: AccountState["kind"];
  name: string;
  /** Granted credits less posted debits; undefined where the link holds no credits of its own. */
  balance: Nano | undefined;
  /** The budget of the running period, or the credits ever granted; undefined where nothing limits the link. */
  maxBudget: Nano | undefined;
  /** Posted debits that count against `maxBudget`. */
  spend: Nano;
  held: Nano;
  /** What a call could cost at most; undefined where nothing limits the link. */
  available: Nano | undefined;
  /** How often the budget starts anew. */
  period: BudgetPeriod | undefined;
  /** When it does so next, in milliseconds since the epoch. */
  periodReset: number | undefined;
}

/** The budgets of a caller: each link's, from the token upwards, and the tightest, which is the one in effect. */
export interface BudgetInfo {
  effective: LevelBudget | undefined;
  levels: LevelBudget[];
}

export function budgetInfo(chain: readonly AccountState[], at: number): BudgetInfo {
  const tightest = tightestAccount(chain);
  return {
    effective: tightest === undefined ? undefined : levelBudget(tightest, at),
    levels: chain.map((account) => levelBudget(account, at)),
  };
}

export function levelBudget(account: AccountState, at: number): LevelBudget {
  const { kind, name, prepaid, creditsPosted, debitsPosted, maxBudget } = account;
  // A period is that of a budget: credits don't come back at midnight.
  const period = maxBudget === undefined ? undefined : account.period;
  return {
    kind,
    name,
    balance: prepaid ? creditsPosted - debitsPosted : undefined,
    maxBudget: maxBudget ?? (prepaid ? creditsPosted : undefined),
    spend: maxBudget === undefined ? debitsPosted : account.periodDebits,
    held: account.debitsPending,
    available: availableOf(account),
    period,
    periodReset: periodEnd(period, at),
  };
}
