import type { Nano } from "../core/index.ts";

/** The use of an account's budget. */
export interface SpentBudget {
  accountId: string;
  /** The first day of the running period, as YYYY-MM-DD; undefined for a budget without a period. */
  period: string | undefined;
  /** Whole percent, rounded down. */
  percent: number;
}

/** An account with a balance, and its latest spending. */
export interface SpentBalance {
  accountId: string;
  /** Neither spent nor held. */
  available: Nano;
  /**
   * The charges of the last day: those of today, and the part of yesterday's that the part of today which is not over stands for.
   * Its calls count on the day on which they began. Zero for an account that is idle since it has run out.
   */
  lastDay: Nano;
}

/** The spending of accounts, for those who watch over them. */
export interface SpendingReader {
  /** Of the accounts that have spent at least half of their budgets. */
  spentBudgets(at: number): Promise<SpentBudget[]>;
  /** Of these accounts, as far as they have budgets. */
  budgetUses(accountIds: readonly string[], at: number): Promise<SpentBudget[]>;
  /** Of the accounts with a balance that have spent anything since yesterday, or have at most a hundredth of their credits left. */
  spentBalances(at: number): Promise<SpentBalance[]>;
  /** Open holds whose lease ended before this time, although they are swept every few seconds. */
  holdsLeftBefore(at: number): Promise<number>;
}
