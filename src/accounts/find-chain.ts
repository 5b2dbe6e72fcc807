import type { AccountState } from "../ledger/index.ts";
import { AccountError } from "./account-error.ts";
import type { AccountName, AccountsDependencies } from "./dependencies.ts";

type Dependencies = Pick<AccountsDependencies, "accounts" | "holders" | "tokens" | "environment">;

/** The account and its parents, upwards. Throws an `AccountError` if the account does not exist. */
export async function findChain(deps: Dependencies, { kind, name }: AccountName): Promise<AccountState[]> {
  const id =
    kind === "token" ? (await deps.tokens.findById(name))?.accountId : (await deps.holders.find(kind, name))?.accountId;
  const chain = id === undefined ? [] : await deps.accounts.chain(id, deps.environment.clock());
  if (chain.length === 0) throw new AccountError(`there is no ${kind} ${name}`, "account_not_found");
  return chain;
}
