import { nameOf } from "./acts/bind-identities.ts";
import type { HolderState } from "./acts/change-holder.ts";
import type { TokenState } from "./acts/change-token.ts";
import type { AccountsDependencies } from "./dependencies.ts";
import { type HolderKind, ownerPlace } from "./holder.ts";
import { notFound, reaches } from "./reach.ts";

/** One holder with its accounts, as it is now. Throws 404 if there is none in the caller's reach. */
export async function findHolderState(
  { accounts, holders, environment, caller }: AccountsDependencies,
  { kind, name }: { kind: HolderKind; name: string },
): Promise<HolderState> {
  const holder = await holders.find(kind, name);
  if (holder === undefined || !reaches(caller, holder)) throw notFound(kind, name);
  const { accountId, id } = holder;
  const identities = kind === "user" ? (await holders.identities([id])).map(nameOf) : [];
  const chain = accountId === undefined ? [] : await accounts.chain(accountId, environment.clock());
  return { holder, chain, identities };
}

/** One token with its accounts. Throws 404 if there is none in the caller's reach. */
export async function findTokenState(
  { accounts, holders, tokens, environment, caller }: AccountsDependencies,
  id: string,
): Promise<TokenState> {
  const token = await tokens.findById(id);
  const place = token && ownerPlace(token.user);
  const owner = place && (await holders.find(place.kind, place.id));
  // The id of a deleted user may be the name of another one by now.
  if (token === undefined || owner?.id !== place?.id || owner === undefined || !reaches(caller, owner))
    throw notFound("token", id);
  return { token, owner, chain: await accounts.chain(token.accountId, environment.clock()) };
}
