import type { Nano } from "../core/index.ts";
import type { AccountState, BudgetPeriod } from "../ledger/index.ts";
import type { AccountName, AccountsDependencies } from "./dependencies.ts";
import { findChain } from "./find-chain.ts";

/** What is to change; `none` takes a limit away. */
export interface LimitChanges {
  maxBudget?: Nano | "none" | undefined;
  period?: BudgetPeriod | "none" | undefined;
}

/**
 * Sets the budget of an account that is there, and gives back its chain. It holds from the next call on, through whichever
 * process; what the account has spent in the running period counts.
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
