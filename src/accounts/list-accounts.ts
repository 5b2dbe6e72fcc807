import type { AccountState } from "../ledger/index.ts";
import type { AccountsDependencies } from "./dependencies.ts";

/** An account with the number of its parents. */
export interface ListedAccount {
  account: AccountState;
  depth: number;
}

/** The top level: organisations, then users and projects without one, then service tokens. */
const kinds: readonly AccountState["kind"][] = ["organisation", "user", "project", "token"];

/** Every account but those of budgets, each followed by its descendants. */
export async function listAccounts({
  accounts,
  environment,
}: Pick<AccountsDependencies, "accounts" | "environment">): Promise<ListedAccount[]> {
  const all = (await accounts.listAccounts(environment.clock())).filter(({ kind }) => kind !== "budget");
  const byParent = Map.groupBy(all, ({ parentId }) => parentId);
  const withChildren = (account: AccountState, depth: number): ListedAccount[] => [
    { account, depth },
    ...(byParent.get(account.id) ?? []).flatMap((child) => withChildren(child, depth + 1)),
  ];
  return (byParent.get(undefined) ?? [])
    .toSorted((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind))
    .flatMap((top) => withChildren(top, 0));
}
