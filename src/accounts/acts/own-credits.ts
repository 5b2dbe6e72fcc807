/** Whose credits pay for a holder's calls, and those that would be lost with its account. */
import { formatCredits } from "../../core/index.ts";
import type { AccountState } from "../../ledger/index.ts";
import { AccountError } from "../account-error.ts";
import type { Holder } from "../holder.ts";

/** Throws an `AccountError` if the user or project pays with an organisation's credits. */
export function requireOwnCredits({ kind, name, organisationId }: Holder): void {
  if (organisationId !== undefined) throw creditsOnAnotherAccount(`${kind} ${name}`, organisationId);
}

export function creditsOnAnotherAccount(holder: string, organisation: string): AccountError {
  return new AccountError(
    `${holder} pays with the credits of organisation ${organisation}: grant them to the organisation, and bound ${holder} by a budget`,
  );
}

/** Throws 409 for an account with credits, or that owes some. One that is not limited by credits owes none. */
export function requireNoCreditsOfOwn(
  { kind, name }: Pick<Holder, "kind" | "name">,
  { prepaid, creditsPosted, debitsPosted }: AccountState,
): void {
  const left = creditsPosted - debitsPosted;
  const balance = prepaid || left > 0n ? left : 0n;
  if (balance !== 0n)
    throw new AccountError(
      `${kind} ${name} has a balance of ${formatCredits(balance)}: take it back or grant it first`,
    );
}
