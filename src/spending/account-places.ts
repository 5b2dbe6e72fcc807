/** The organisations, users and projects of accounts, and their names: the sums of calls know only the id of an account. */
import type { AccountsDependencies, HolderKind } from "../accounts/index.ts";
import { accountId } from "../ledger/index.ts";

export interface AccountPlaces {
  /** The id of the organisation that pays for the account; undefined if there is none. */
  organisationOf(account: string): string | undefined;
  /** The present name; of a deleted one its id, which is its first name as a rule. */
  nameOf(kind: HolderKind, id: string): string;
}

const PAGE = 500;

export async function accountPlaces(
  deps: Pick<AccountsDependencies, "accounts" | "holders" | "environment">,
): Promise<AccountPlaces> {
  const all = await deps.accounts.listAccounts(deps.environment.clock());
  const parents = new Map(all.map(({ id, parentId }) => [id, parentId]));
  const names = new Map<string, string>();
  const organisationIds = new Map<string, string>();
  for await (const { kind, id, name, accountId: account } of holdersOf(deps)) {
    names.set(`${kind}:${id}`, name);
    if (kind === "organisation" && account !== undefined) organisationIds.set(account, id);
  }
  const prefix = accountId("organisation", "");
  return {
    organisationOf(account) {
      for (let id: string | undefined = account; id !== undefined; id = parents.get(id))
        if (id.startsWith(prefix)) return organisationIds.get(id) ?? id.slice(prefix.length);
      return undefined;
    },
    nameOf: (kind, id) => names.get(`${kind}:${id}`) ?? id,
  };
}

async function* holdersOf({ holders }: Pick<AccountsDependencies, "holders">) {
  for (const kind of ["organisation", "user", "project"] as const) {
    for (let after: string | undefined = ""; after !== undefined;) {
      const page = await holders.list({ kind, limit: PAGE, after });
      yield* page;
      after = page.length < PAGE ? undefined : page.at(-1)?.id;
    }
  }
}
