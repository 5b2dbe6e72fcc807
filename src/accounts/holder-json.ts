import { creditsNumber } from "../core/index.ts";
import { type AccountState, availableOf } from "../ledger/index.ts";
import { creditsOrNull, timeOrNull } from "./budget-json.ts";
import type { HolderState } from "./acts/change-holder.ts";
import type { TokenState } from "./acts/change-token.ts";
import { settingsOf, tokenSettingsOf } from "./settings.ts";

/** The amounts of one account. */
function amountsOf(account: AccountState | undefined) {
  return {
    balance: account?.prepaid === true ? creditsNumber(account.creditsPosted - account.debitsPosted) : null,
    spend: creditsNumber(account?.debitsPosted ?? 0n),
    held: creditsNumber(account?.debitsPending ?? 0n),
    available: creditsOrNull(account && availableOf(account)),
  };
}

/** An organisation, a user or a project, in answers and CLI output. */
export function holderJson({ holder, chain, identities }: HolderState) {
  const [account] = chain;
  const { kind, organisationId = null, createdAt } = holder;
  const organisation = chain.find((each) => each.kind === "organisation")?.name ?? organisationId;
  const settings = settingsOf(holder, account);
  return {
    object: kind,
    ...settings,
    ...(kind === "organisation" ? { markup: settings.markup ?? null } : { organisation }),
    ...(kind === "user" && { identities }),
    ...amountsOf(account),
    created_at: new Date(createdAt).toISOString(),
  };
}

/** A token without its secret, in answers and CLI output. */
export function tokenJson({ token, owner, chain }: TokenState) {
  const { balance: _, ...amounts } = amountsOf(chain[0]);
  return {
    object: "token" as const,
    ...tokenSettingsOf(token, chain[0]),
    user: owner.kind === "user" ? owner.name : null,
    project: owner.kind === "project" ? owner.name : null,
    revoked_at: timeOrNull(token.revokedAt),
    previous_until: timeOrNull(token.previousUntil),
    made_by: token.madeBy ?? null,
    created_at: new Date(token.createdAt).toISOString(),
    ...amounts,
  };
}
