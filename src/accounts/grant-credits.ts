import { formatCredits, limits, type Nano, randomId } from "../core/index.ts";
import { accountId } from "../ledger/index.ts";
import type { AccountName, AccountsDependencies } from "./dependencies.ts";
import { AccountError } from "./account-error.ts";
import { ensureOrganisation, ensureUser, requireOwnCredits } from "./ensure-user.ts";

/** An account that can own credits. */
export interface CreditsOwner extends AccountName {
  kind: "organisation" | "user";
}

/**
 * Posts credits to a user or an organisation and returns the new balance. A missing account is created. Throws an
 * `AccountError` for a user who pays with an organisation's credits.
 */
export async function grantCredits(deps: AccountsDependencies, holder: CreditsOwner, amount: Nano): Promise<Nano> {
  await ensureHolder(deps, holder);
  const id = accountId(holder.kind, holder.name);
  const at = deps.environment.clock();
  const [before] = await deps.accounts.chain(id, at);
  if ((before?.creditsPosted ?? 0n) + amount > limits.accountNanoMax)
    throw new AccountError(
      `${holder.kind} ${holder.name} can't have more than ${formatCredits(limits.accountNanoMax)} credits in all`,
    );
  const grant = {
    kind: "grant",
    id: `grant_${randomId(deps.environment.randomBytes, 20)}`,
    accountId: id,
    amount,
    at,
  } as const;
  const { outcome } = await deps.ledger.submit(grant);
  if (outcome !== "granted") throw new Error(`grant to ${id}: ${outcome}`);
  const [account] = await deps.accounts.chain(id, at);
  return account === undefined ? 0n : account.creditsPosted - account.debitsPosted;
}

async function ensureHolder(deps: AccountsDependencies, { kind, name }: CreditsOwner): Promise<void> {
  if (kind === "organisation") await ensureOrganisation(deps, name);
  else requireOwnCredits(await ensureUser(deps, name), name);
}
