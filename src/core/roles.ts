/**
 * The rights of a user in the admin API. `owner` may do everything; `operator` has providers and routes and no money, `billing`
 * money and no secrets; `auditor` reads; `organisation_admin` has its own organisation, `member` its own things.
 */
export const roles = ["owner", "operator", "billing", "auditor", "organisation_admin", "member"] as const;

export type Role = (typeof roles)[number];

/** The roles that each one contains, besides itself: those are lesser, and the only ones that it may give. */
const lesser: Readonly<Record<Role, readonly Role[]>> = {
  owner: roles,
  operator: ["member"],
  billing: ["member"],
  auditor: ["member"],
  organisation_admin: ["member"],
  member: [],
};

/** Whether somebody with `role` has all that `other` has. */
export function includesRole(role: Role, other: Role): boolean {
  return role === other || lesser[role].includes(other);
}

/**
 * The role of a token: its own one, if it has one, as far as its user has that. A user who has lost a role has lost it with every
 * token.
 */
export function roleOfToken(ofUser: Role, own: Role | undefined): Role {
  if (own === undefined) return ofUser;
  return includesRole(ofUser, own) ? own : "member";
}
