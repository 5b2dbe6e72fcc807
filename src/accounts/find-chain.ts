import { accountId, type AccountState } from "../ledger/index.ts";
import { AccountError } from "./account-error.ts";
import type { AccountName, AccountsDependencies } from "./dependencies.ts";

/** The account and its parents, upwards. Throws an `AccountError` if the account does not exist. */
export async function findChain(
  { accounts, environment }: Pick<AccountsDependencies, "accounts" | "environment">,
  { kind, name }: AccountName,
): Promise<AccountState[]> {
  const chain = await accounts.chain(accountId(kind, name), environment.clock());
  if (chain.length === 0) throw new AccountError(`there is no ${kind} ${name}`);
  return chain;
}
