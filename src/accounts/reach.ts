/** The accounts in the reach of a caller, and their rights. One out of reach looks like one that does not exist. */
import { includesRole, type Nano, type Role, roleOfToken } from "../core/index.ts";
import type { AccountState } from "../ledger/index.ts";
import { AccountError } from "./account-error.ts";
import type { Caller } from "./dependencies.ts";
import { type AccountLevel, type Holder, ownerOf } from "./holder.ts";

/** The roles that reach every organisation and user. */
const everywhere: ReadonlySet<Role> = new Set<Role>(["owner", "billing", "auditor"]);

export function reachesAll({ role }: Caller): boolean {
  return everywhere.has(role);
}

/** Whether the holder is the caller, or a project of theirs. */
export function isOwn({ user }: Caller, holder: Pick<Holder, "kind" | "id" | "members">): boolean {
  if (holder.kind === "organisation" || user === undefined) return false;
  return user === ownerOf(holder) || holder.members?.includes(user) === true;
}

/** Whether the caller may know of the holder. */
export function reaches(caller: Caller, holder: Holder): boolean {
  if (reachesAll(caller) || isOwn(caller, holder)) return true;
  const { kind, id, organisationId } = holder;
  if (caller.role !== "organisation_admin" || caller.organisation === undefined) return false;
  return caller.organisation === (kind === "organisation" ? id : organisationId);
}

export function notFound(kind: AccountLevel, name: string): AccountError {
  return new AccountError(`there is no ${kind} ${name}`, "account_not_found");
}

export function roleRequired(what: string): AccountError {
  return new AccountError(what, "role_required");
}

/** Throws 403 if the user or project has rights that the caller lacks: nobody changes such a one, or gets a token of theirs. */
export function requireNoMoreThanCaller(caller: Caller, owner: Holder, role: Role = owner.role ?? "member"): void {
  if (includesRole(caller.role, role)) return;
  throw roleRequired(`${owner.kind} ${owner.name} has the role ${role}, which ${caller.role} does not contain.`);
}

/**
 * Throws 403 if the caller may not have the secret of such a token, or take it away: a token of somebody else is for owners and the
 * admins of their organisation, one of a project for its members too, and none may have more rights than the caller's own.
 */
export function requireKeeper(caller: Caller, owner: Holder, tokenRole: Role | undefined): void {
  requireNoMoreThanCaller(caller, owner, roleOfToken(owner.role ?? "member", tokenRole));
  if (caller.role === "owner" || isOwn(caller, owner)) return;
  if (caller.role !== "organisation_admin") throw roleRequired(`The role ${caller.role} has no tokens of others.`);
  requireNoMoreThanCaller(caller, owner);
}

/**
 * The role of a token of somebody else whose secret the caller gets: that of its user as of now, with whom the caller is not raised later.
 * Undefined for no such bound.
 */
export function roleAsOfNow(caller: Caller, owner: Holder): Role | undefined {
  return caller.role === "owner" || isOwn(caller, owner) ? undefined : (owner.role ?? "member");
}

/** Throws 403 for limits of an organisation's admin: those are for owners, else who has them would lift them. */
export function requireLimitable({ role }: Caller, { name, role: limited }: Holder): void {
  if (role === "organisation_admin" && limited === "organisation_admin")
    throw roleRequired(`User ${name} is an organisation's admin, whose limits are set by owners and billing.`);
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
