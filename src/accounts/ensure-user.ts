/**
 * Credits belong to the top of a chain: to an organisation, or to a user without one. The levels below only have
 * budgets. Each charge counts on every level, so a second balance on the way would charge twice.
 */
import { type Account, accountId, type AccountState } from "../ledger/index.ts";
import { AccountError } from "./account-error.ts";
import type { AccountsDependencies } from "./dependencies.ts";

type Dependencies = Pick<AccountsDependencies, "accounts" | "environment">;

/** Creates the organisation's account if it does not exist, and returns its id. */
export async function ensureOrganisation({ accounts, environment }: Dependencies, name: string): Promise<string> {
  const account = newAccount("organisation", name, undefined);
  await accounts.createAccount(account, environment.clock());
  return account.id;
}

/**
 * The user's chain. A new user is created, in the organisation if one is given. Throws an `AccountError` if the user
 * already belongs to another one: an account's spending counts for its parents, so an account never moves.
 */
export async function ensureUser(deps: Dependencies, name: string, organisation?: string): Promise<AccountState[]> {
  const { accounts, environment } = deps;
  const at = environment.clock();
  let chain = await accounts.chain(accountId("user", name), at);
  if (chain.length === 0) {
    const parent = organisation === undefined ? undefined : await ensureOrganisation(deps, organisation);
    await accounts.createAccount(newAccount("user", name, parent), at);
    // A simultaneous command may have created the same user in another organisation.
    chain = await accounts.chain(accountId("user", name), at);
  }
  if (organisation !== undefined && organisationOf(chain) !== organisation) throw elsewhere(chain, name, organisation);
  return chain;
}

/** Throws an `AccountError` if the user pays with an organisation's credits. */
export function requireOwnCredits(chain: readonly AccountState[], user: string): void {
  const organisation = organisationOf(chain);
  if (organisation !== undefined) throw creditsOnAnotherAccount(user, organisation);
}

export function creditsOnAnotherAccount(user: string, organisation: string): AccountError {
  return new AccountError(
    `user ${user} pays with the credits of organisation ${organisation}: grant them to the organisation, and bound the user by a budget`,
  );
}

function organisationOf([, parent]: readonly AccountState[]): string | undefined {
  return parent?.name;
}

function elsewhere(chain: readonly AccountState[], user: string, organisation: string): AccountError {
  const there = organisationOf(chain);
  const place = there === undefined ? "is in no organisation" : `is in organisation ${there}`;
  return new AccountError(
    `user ${user} ${place} and can't be moved to ${organisation}: an account never changes its place; make a new user`,
  );
}

function newAccount(kind: "organisation" | "user", name: string, parentId: string | undefined): Account {
  const isTop = parentId === undefined;
  return { id: accountId(kind, name), kind, name, parentId, prepaid: isTop, maxBudget: undefined, period: undefined };
}
