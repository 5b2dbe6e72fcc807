import type { TokenState } from "./acts/change-token.ts";
import type { AccountsDependencies } from "./dependencies.ts";
import { ownerOf, type OwnerKind } from "./holder.ts";
import { notFound, reaches, reachesAll } from "./reach.ts";

export interface TokenPage {
  limit: number;
  /** The last id of the page before. */
  after?: string | undefined;
  /** Of this user or project only, by id or name. */
  owner?: { kind: OwnerKind; name: string } | undefined;
}

/** The tokens in the caller's reach, by id. Throws 404 if the user or project is out of it. */
export async function listTokens(deps: AccountsDependencies, page: TokenPage): Promise<TokenState[]> {
  const { caller, holders, ledger, environment } = deps;
  const owner = page.owner && (await ownerIn(deps, page.owner));
  const organisation = caller.role === "organisation_admin" ? caller.organisation : undefined;
  const own = reachesAll(caller) || organisation !== undefined ? undefined : caller.user;
  const { limit, after } = page;
  const found = await holders.tokens({
    limit,
    after,
    ...(owner === undefined ? { organisation, within: own } : { owner }),
  });
  const accounts = await ledger.read(
    found.map(({ token }) => token.accountId),
    environment.clock(),
  );
  const byId = new Map(accounts.map((account) => [account.id, account]));
  return found.map((each) => {
    const account = byId.get(each.token.accountId);
    return { ...each, chain: account === undefined ? [] : [account] };
  });
}

async function ownerIn(
  { caller, holders }: AccountsDependencies,
  { kind, name }: NonNullable<TokenPage["owner"]>,
): Promise<string> {
  const holder = await holders.find(kind, name);
  if (holder === undefined || !reaches(caller, holder)) throw notFound(kind, name);
  return ownerOf(holder);
}
