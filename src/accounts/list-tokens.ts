import type { TokenState } from "./acts/change-token.ts";
import type { AccountsDependencies } from "./dependencies.ts";
import { notFound, reaches, reachesAll } from "./reach.ts";

export interface TokenPage {
  limit: number;
  /** The last id of the page before. */
  after?: string | undefined;
  /** Of this user only, by id or name. */
  user?: string | undefined;
}

/** The tokens in the caller's reach, by id. Throws 404 if the user is out of it. */
export async function listTokens(deps: AccountsDependencies, page: TokenPage): Promise<TokenState[]> {
  const { caller, holders, ledger, environment } = deps;
  const user = page.user === undefined ? undefined : await holders.find("user", page.user);
  if (page.user !== undefined && (user === undefined || !reaches(caller, user))) throw notFound("user", page.user);
  const organisation = caller.role === "organisation_admin" ? caller.organisation : undefined;
  const own = reachesAll(caller) || organisation !== undefined ? undefined : caller.user;
  const found = await holders.tokens({ ...page, user: user?.id ?? own, organisation });
  const accounts = await ledger.read(
    found.map(({ token }) => token.accountId),
    environment.clock(),
  );
  const byId = new Map(accounts.map((account) => [account.id, account]));
  return found.map(({ token, user: holder }) => {
    const account = byId.get(token.accountId);
    return { token, user: holder, chain: account === undefined ? [] : [account] };
  });
}
