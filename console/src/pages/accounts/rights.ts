/** The acts that the API takes from each role: a button for any other would only be refused. */
import type { Role } from "../../api/types.ts";
import type { AccountKind } from "./types.ts";

const owners: ReadonlySet<Role> = new Set(["owner"]);
const managers: ReadonlySet<Role> = new Set(["owner", "organisation_admin"]);
const payers: ReadonlySet<Role> = new Set(["owner", "billing"]);
/** Billing changes their limits in credits alone. */
const limiters: ReadonlySet<Role> = new Set(["owner", "billing", "organisation_admin"]);

type Act = "make" | "change" | "disable" | "delete";

const ofUsers: Readonly<Record<Act, ReadonlySet<Role>>> = {
  make: managers,
  change: limiters,
  disable: managers,
  delete: managers,
};

const rights: Readonly<Record<AccountKind | "budgets" | "tokens", Readonly<Record<Act, ReadonlySet<Role>>>>> = {
  users: ofUsers,
  projects: ofUsers,
  organisations: { make: owners, change: payers, disable: owners, delete: owners },
  budgets: { make: limiters, change: limiters, disable: limiters, delete: limiters },
  // Everybody makes, rotates and revokes their own.
  tokens: { make: managers, change: limiters, disable: managers, delete: managers },
};

export const may = (role: Role, act: Act, kind: keyof typeof rights): boolean => rights[kind][act].has(role);

/** Whether somebody may change and delete a budget: those of an organisation are for who pays. */
export const mayChangeBudget = (role: Role, { organisation }: { organisation: string | null }): boolean =>
  organisation === null ? may(role, "change", "budgets") : payers.has(role);

/** Billing and auditors see the tokens of others, which they neither rotate nor revoke. The other roles see those that they may. */
export const mayKeep = (role: Role, user: string, token: { user: string | null }): boolean =>
  may(role, "delete", "tokens") || (role !== "billing" && role !== "auditor") || token.user === user;

/** The fields that billing changes. */
export const payersFields: ReadonlySet<string> = new Set(["max_budget", "period", "prepaid", "markup"]);
