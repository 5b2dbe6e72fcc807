import { formatCredits, limits, type Nano, randomId } from "../core/index.ts";
import { accountId } from "../ledger/index.ts";
import type { AccountName, AccountsDependencies } from "./dependencies.ts";
import { AccountError } from "./account-error.ts";
import { ensureOrganisation, ensureUser, requireOwnCredits } from "./ensure-user.ts";
import { findChain } from "./find-chain.ts";

/** An account that can own credits. */
export interface CreditsOwner extends AccountName {
  kind: "organisation" | "user";
}

interface GrantOptions {
  reason?: string | undefined;
  /** The entry's: a grant that is repeated with the same id counts once. */
  id?: string | undefined;
}

/**
 * Posts credits to a user or an organisation and returns the new balance. An amount below zero takes credits back, as far
 * as they are neither spent nor held. A missing account is created to get credits. Throws an `AccountError`, and changes
 * nothing, for a user who pays with an organisation's credits, if there are not as many credits to take, or if another
 * grant has the id.
 */
export async function grantCredits(
  deps: AccountsDependencies,
  holder: CreditsOwner,
  amount: Nano,
  { reason = "none given", id }: GrantOptions = {},
): Promise<Nano> {
  await (amount < 0n ? requireHolder(deps, holder) : ensureHolder(deps, holder));
  const account = accountId(holder.kind, holder.name);
  const at = deps.environment.clock();
  const shown = `${holder.kind} ${holder.name}`;
  const [before] = await deps.accounts.chain(account, at);
  if ((before?.creditsPosted ?? 0n) + amount > limits.accountNanoMax)
    throw new AccountError(`${shown} can't have more than ${formatCredits(limits.accountNanoMax)} credits in all`);
  const entryId = id ?? `grant_${randomId(deps.environment.randomBytes, 20)}`;
  const { actor } = deps;
  const granted = await deps.ledger.submit({
    kind: "grant",
    id: entryId,
    accountId: account,
    amount,
    at,
    actor,
    reason,
  });
  if (granted.outcome === "insufficient") {
    const left = formatCredits(granted.available > 0n ? granted.available : 0n);
    throw new AccountError(`${shown} has only ${left} credits that are neither spent nor held; nothing was taken back`);
  }
  if (granted.outcome === "conflict") throw new AccountError(`the grant ${entryId} was another one`);
  if (granted.outcome === "no-account") throw new Error(`grant to ${account}: ${granted.outcome}`);
  const [after] = await deps.accounts.chain(account, at);
  return after === undefined ? 0n : after.creditsPosted - after.debitsPosted;
}

async function ensureHolder(deps: AccountsDependencies, { kind, name }: CreditsOwner): Promise<void> {
  if (kind === "organisation") await ensureOrganisation(deps, name);
  else requireOwnCredits(await ensureUser(deps, name), name);
}

async function requireHolder(deps: AccountsDependencies, holder: CreditsOwner): Promise<void> {
  const chain = await findChain(deps, holder);
  if (holder.kind === "user") requireOwnCredits(chain, holder.name);
}
