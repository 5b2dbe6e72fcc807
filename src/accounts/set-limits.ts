import type { Nano } from "../core/index.ts";
import type { AccountState, BudgetPeriod } from "../ledger/index.ts";
import { AccountError } from "./account-error.ts";
import type { AccountName, AccountsDependencies } from "./dependencies.ts";
import { findChain } from "./find-chain.ts";

/** The limits to change; `none` removes a limit. */
export interface LimitChanges {
  maxBudget?: Nano | "none" | undefined;
  period?: BudgetPeriod | "none" | undefined;
  /** In millionths; only an organisation has one. */
  markup?: number | "none" | undefined;
}

/**
 * Sets the budget of an existing account, or the markup of an organisation's calls, and returns its chain. A budget
 * applies from the next call on, in all processes, and counts the spending of the running period; a markup applies within
 * a second, to calls that begin. Throws an `AccountError` for a markup of another account.
 */
export async function setLimits(
  deps: Pick<AccountsDependencies, "accounts" | "environment">,
  name: AccountName,
  changes: LimitChanges,
): Promise<AccountState[]> {
  const [account] = await findChain(deps, name);
  if (changes.markup !== undefined && name.kind !== "organisation")
    throw new AccountError(
      `only an organisation has a markup; ${name.kind} ${name.name} has that of the configuration`,
    );
  if (account !== undefined) {
    const maxBudget = changed(account.maxBudget, changes.maxBudget);
    const period = changed(account.period, changes.period);
    const markup = changed(account.markup, changes.markup);
    await deps.accounts.putAccount({ ...account, maxBudget, period, markup }, deps.environment.clock());
  }
  return findChain(deps, name);
}

function changed<Limit>(now: Limit | undefined, next: Limit | "none" | undefined): Limit | undefined {
  if (next === undefined) return now;
  return next === "none" ? undefined : next;
}
