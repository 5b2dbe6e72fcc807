/** The bounds that an organisation sets to the tokens of its users, and who may make their own within them. */
import type { Policy } from "../../auth/index.ts";
import { formatCredits, type Nano, type Role } from "../../core/index.ts";
import type { BudgetPeriod } from "../../ledger/index.ts";
import type { Steps } from "../../storage/index.ts";
import type { AccountsDependencies, Caller } from "../dependencies.ts";
import { type Holder, ownerOf, type TokenPolicy } from "../holder.ts";
import { isOwn, roleRequired } from "../reach.ts";
import { selectBudgetsOf } from "../sql/budgets.ts";
import { findById } from "../sql/holders.ts";
import { countTokens, findToken } from "../sql/tokens.ts";

/** The settings of a token that a policy bounds. */
interface Bounded {
  expiresAt?: number | undefined;
  maxBudget?: Nano | undefined;
  period?: BudgetPeriod | undefined;
}

/** Undefined for no bounds: for owners, and in an organisation without a policy. */
function* policyFor({ role }: Caller, { organisationId }: Holder): Steps<TokenPolicy | undefined> {
  if (role === "owner" || organisationId === undefined) return undefined;
  return (yield* findById("organisation", organisationId))?.tokenPolicy;
}

/**
 * The end of a token that the caller gets for themselves: without one, or a later one, it would outlive the signed token that they
 * present. Throws 403 for a later one.
 */
export function endWithinSigned(caller: Caller, owner: Holder, expiresAt: number | undefined): number | undefined {
  const { signedUntil } = caller;
  if (signedUntil === undefined || !isOwn(caller, owner)) return expiresAt;
  if (expiresAt !== undefined && expiresAt > signedUntil)
    throw roleRequired("The presented token ends before that: it makes no token of one's own that outlives it.");
  return expiresAt ?? signedUntil;
}

/** The settings of a new token, with those of the policy that it does not name. Throws 403 if they exceed it. */
export function* withinPolicy<Settings extends Bounded>(
  { caller, environment }: AccountsDependencies,
  owner: Holder,
  wanted: Settings,
): Steps<Settings> {
  const policy = yield* policyFor(caller, owner);
  if (policy === undefined) return wanted;
  const { maxTokens, maxExpiresMs, maxBudget } = policy;
  const at = environment.clock();
  if (maxTokens !== undefined && (yield* countTokens(ownerOf(owner), at)) >= maxTokens)
    throw roleRequired(
      `${owner.kind} ${owner.name} has ${maxTokens} tokens, which is the most by the policy of the organisation.`,
    );
  const filled = {
    ...wanted,
    expiresAt: wanted.expiresAt ?? (maxExpiresMs === undefined ? undefined : at + maxExpiresMs),
    maxBudget: wanted.maxBudget ?? maxBudget,
  };
  requireBounds(policy, filled, at);
  return filled;
}

/** Throws 403 if the changed limits of a token exceed the policy; those that stay as they were may. */
export function* requireChangeWithin(
  { caller, environment }: AccountsDependencies,
  user: Holder,
  { before, after }: { before: Bounded; after: Bounded },
): Steps<void> {
  const { expiresAt, maxBudget, period } = after;
  const isSame = before.expiresAt === expiresAt && before.maxBudget === maxBudget && before.period === period;
  const policy = isSame ? undefined : yield* policyFor(caller, user);
  if (policy !== undefined) requireBounds(policy, after, environment.clock());
}

function requireBounds({ maxExpiresMs, maxBudget }: TokenPolicy, wanted: Bounded, at: number): void {
  if (maxExpiresMs !== undefined && (wanted.expiresAt === undefined || wanted.expiresAt > at + maxExpiresMs))
    throw roleRequired(`The policy of the organisation lets a token live for ${maxExpiresMs / 1_000} seconds at most.`);
  if (maxBudget === undefined) return;
  // Its budget is for the whole life of a token: one that starts again every day would be many of them.
  if (wanted.maxBudget === undefined || wanted.maxBudget > maxBudget || wanted.period !== undefined)
    throw roleRequired(
      `The policy of the organisation lets a token spend ${formatCredits(maxBudget)} at most, without a period.`,
    );
}

/**
 * Throws 403 if the caller may not have other tokens of this user or project: of somebody else without managing them, of their own without
 * a policy of the organisation, or if the presented one has limits of its own, which another one would not have.
 */
export function* requireSelfService(deps: AccountsDependencies, owner: Holder): Steps<void> {
  const { caller } = deps;
  if (caller.role === "owner") return;
  if (caller.role === "organisation_admin") {
    if (isOwn(caller, owner)) yield* requireNoLimits(deps);
    return;
  }
  if ((yield* policyFor(caller, owner)) === undefined)
    throw roleRequired(
      `The role ${caller.role} has only the token that it presents: its organisation has no token_policy.`,
    );
  yield* requireNoLimits(deps);
}

/**
 * Throws 403 if the presented token has limits of its own, which its holder could lift with another one. Owners may. `refused` ends the
 * message: what it does not do.
 */
export function* requireNoLimits(
  deps: AccountsDependencies,
  refused = "makes, changes, rotates and revokes no other one",
): Steps<void> {
  if (yield* presentsLimits(deps)) throw roleRequired(`The presented token has limits of its own: it ${refused}.`);
}

/** Whether the presented token has limits of its own, and its holder is no owner. */
export function* presentsLimits(deps: AccountsDependencies): Steps<boolean> {
  const { caller } = deps;
  if (caller.role === "owner") return false;
  const own = caller.tokenId === undefined ? undefined : yield* findToken(caller.tokenId);
  return own === undefined || (yield* isLimited(deps, own));
}

/** Throws 403 if an organisation's admin with limits, of the token or of the user, makes another admin, who would have none. */
export function* requireMayMake(deps: AccountsDependencies, role: Role | undefined): Steps<void> {
  const { caller } = deps;
  if (caller.role !== "organisation_admin" || role !== "organisation_admin") return;
  yield* requireNoLimits(deps, "makes no organisation's admin");
  const user = caller.user === undefined ? undefined : yield* findById("user", caller.user);
  if (user === undefined || (yield* isLimited(deps, user)))
    throw roleRequired("You have limits of your own: owners make an organisation's admins.");
}

/** Whether a token or a user has limits, or a budget beside its chain. */
function* isLimited(
  { ledger, environment }: AccountsDependencies,
  { accountId, ...policy }: Policy & { accountId: string | undefined },
): Steps<boolean> {
  const { models, tools, rpm, tpm, concurrency, expiresAt } = policy;
  if ([models, tools, rpm, tpm, concurrency, expiresAt].some((limit) => limit !== undefined)) return true;
  if (accountId === undefined) return false;
  const [account] = yield* ledger.chain(accountId, environment.clock());
  return account?.maxBudget !== undefined || (yield selectBudgetsOf([accountId])).length > 0;
}
