import type { AccountState } from "../ledger/index.ts";
import type { AccountsDependencies } from "./dependencies.ts";
import { nameOf } from "./acts/bind-identities.ts";
import type { HolderState } from "./acts/change-holder.ts";
import type { HolderKind } from "./holder.ts";
import { reachesAll } from "./reach.ts";

export interface HolderPage {
  kind: HolderKind;
  limit: number;
  /** The last id of the page before. */
  after?: string | undefined;
  /** Users or projects of this organisation only, by its id or name. */
  organisation?: string | undefined;
}

/** The holders in the caller's reach, by id. */
export async function listHolders(deps: AccountsDependencies, page: HolderPage): Promise<HolderState[]> {
  const { caller, holders, ledger, environment } = deps;
  const all = reachesAll(caller);
  const isAdmin = caller.role === "organisation_admin" && caller.organisation !== undefined;
  // Without an organisation, a caller reaches nobody but themselves and their projects.
  const member = all || isAdmin || page.kind !== "project" ? undefined : caller.user;
  if (!all && !isAdmin && member === undefined) return [];
  const named = page.organisation === undefined ? undefined : await holders.find("organisation", page.organisation);
  const organisation = all ? named?.id : caller.organisation;
  if (page.organisation !== undefined && (named === undefined || named.id !== organisation)) return [];
  const found = await holders.list({ ...page, organisation, member });
  const organisations = [...new Set(found.flatMap(({ organisationId }) => organisationId ?? []))];
  const above = await Promise.all(organisations.map((id) => holders.find("organisation", id)));
  const placeOf = new Map(above.flatMap((place) => (place === undefined ? [] : [[place.id, place.accountId]])));
  const ids = [...found, ...above].flatMap((holder) => holder?.accountId ?? []);
  const accounts = new Map((await ledger.read(ids, environment.clock())).map((account) => [account.id, account]));
  const identities = page.kind === "user" ? await holders.identities(found.map(({ id }) => id)) : [];
  const byUser = Map.groupBy(identities, ({ user }) => user);
  return found.map((holder) => {
    const chain: AccountState[] = [];
    for (const id of [holder.accountId, placeOf.get(holder.organisationId ?? "")]) {
      const account = id === undefined ? undefined : accounts.get(id);
      if (account !== undefined) chain.push(account);
    }
    return { holder, chain, identities: (byUser.get(holder.id) ?? []).map(nameOf) };
  });
}
