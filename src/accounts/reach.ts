/** The accounts in the reach of a caller, and their rights. One out of reach looks like one that does not exist. */
import { includesRole, type Nano, type Role, roleOfToken } from "../core/index.ts";
import type { AccountState } from "../ledger/index.ts";
import { AccountError } from "./account-error.ts";
import type { Caller } from "./dependencies.ts";
import type { AccountLevel, Holder } from "./holder.ts";

/** The roles that reach every organisation and user. */
const everywhere: ReadonlySet<Role> = new Set<Role>(["owner", "billing", "auditor"]);

export function reachesAll({ role }: Caller): boolean {
  return everywhere.has(role);
}

/** Whether the caller may know of the holder. */
export function reaches(caller: Caller, { kind, id, organisationId }: Holder): boolean {
  if (reachesAll(caller)) return true;
  if (kind === "user" && id === caller.user) return true;
  if (caller.role !== "organisation_admin" || caller.organisation === undefined) return false;
  return caller.organisation === (kind === "organisation" ? id : organisationId);
}

export function notFound(kind: AccountLevel, name: string): AccountError {
  return new AccountError(`there is no ${kind} ${name}`, "account_not_found");
}

export function roleRequired(what: string): AccountError {
  return new AccountError(what, "role_required");
}

/** Throws 403 if the user has rights that the caller lacks: nobody changes such a user, or gets a token of theirs. */
export function requireNoMoreThanCaller(caller: Caller, user: Holder, role: Role = user.role ?? "member"): void {
  if (includesRole(caller.role, role)) return;
  throw roleRequired(`User ${user.name} has the role ${role}, which ${caller.role} does not contain.`);
}

/**
 * Throws 403 if the caller may not have the secret of such a token, or take it away: a token of somebody else is for owners and the
 * admins of their organisation, and none may have more rights than the caller's own.
 */
export function requireKeeper(caller: Caller, user: Holder, tokenRole: Role | undefined): void {
  requireNoMoreThanCaller(caller, user, roleOfToken(user.role ?? "member", tokenRole));
  if (caller.role === "owner" || caller.user === user.id) return;
  if (caller.role !== "organisation_admin") throw roleRequired(`The role ${caller.role} has no tokens of other users.`);
  requireNoMoreThanCaller(caller, user);
}

/**
 * The role of a token of somebody else whose secret the caller gets: that of its user as of now, with whom the caller is not raised later.
 * Undefined for no such bound.
 */
export function roleAsOfNow({ role, user: own }: Caller, { id, role: now = "member" }: Holder): Role | undefined {
  return role === "owner" || own === id ? undefined : now;
}

/** Throws 403 if the caller may not give the role. */
export function requireGivable(caller: Caller, role: Role): void {
  if (!includesRole(caller.role, role)) throw roleRequired(`The role ${caller.role} can't give the role ${role}.`);
}

/** Throws 403 if an organisation's admin sets a budget above that of the organisation. */
export function requireBudgetWithin(
  caller: Caller,
  budget: Nano | null | undefined,
  chain: readonly AccountState[],
): void {
  if (caller.role === "owner" || caller.role === "billing" || typeof budget !== "bigint") return;
  const bound = chain.find(({ kind }) => kind === "organisation")?.maxBudget;
  if (bound !== undefined && budget > bound) throw roleRequired("The budget is above that of the organisation.");
}
