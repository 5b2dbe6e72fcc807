import type { Nano } from "../core/index.ts";
import type { AccountState, BudgetPeriod } from "../ledger/index.ts";
import type { AccountName, AccountsDependencies } from "./dependencies.ts";
import { findChain } from "./find-chain.ts";

/** The limits to change; `none` removes a limit. */
export interface LimitChanges {
  maxBudget?: Nano | "none" | undefined;
  period?: BudgetPeriod | "none" | undefined;
}

/**
 * Sets the budget of an existing account, and returns its chain. The budget applies from the next call on, in all
 * processes, and counts the spending of the running period.
 */
export async function setLimits(
  deps: Pick<AccountsDependencies, "accounts" | "environment">,
  name: AccountName,
  changes: LimitChanges,
): Promise<AccountState[]> {
  const [account] = await findChain(deps, name);
  if (account !== undefined) {
    const maxBudget = changed(account.maxBudget, changes.maxBudget);
    const period = changed(account.period, changes.period);
    await deps.accounts.putAccount({ ...account, maxBudget, period }, deps.environment.clock());
  }
  return findChain(deps, name);
}

function changed<Limit>(now: Limit | undefined, next: Limit | "none" | undefined): Limit | undefined {
  if (next === undefined) return now;
  return next === "none" ? undefined : next;
}
