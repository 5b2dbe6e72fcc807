import { policyColumns, roleColumn, tagsColumn } from "../../auth/index.ts";
import {
  column,
  firstOf,
  LOCK,
  perEngine,
  sql,
  type SqlRow,
  type Statement,
  type Steps,
  tableOf,
  textsIn,
} from "../../storage/index.ts";
import { type Holder, type HolderKind, ownerPlace, type OwnerKind, type TokenPolicy } from "../holder.ts";

const { text, integer, json, oneOf, optional } = column;

const tokenPolicy = {
  read: (value: unknown): TokenPolicy | undefined => {
    if (typeof value !== "string") return undefined;
    const { maxBudget, ...rest } = JSON.parse(value) as Omit<TokenPolicy, "maxBudget"> & { maxBudget?: string };
    return { ...rest, ...(maxBudget !== undefined && { maxBudget: BigInt(maxBudget) }) };
  },
  write: (policy: TokenPolicy): string => JSON.stringify({ ...policy, maxBudget: policy.maxBudget?.toString() }),
};

const columns = tableOf<Omit<Holder, "members">>({
  kind: oneOf<HolderKind>({ organisation: true, user: true, project: true }),
  id: text,
  name: text,
  role: optional(roleColumn),
  organisationId: optional(text),
  accountId: optional(text),
  disabledAt: optional(integer),
  deletedAt: optional(integer),
  createdAt: integer,
  version: integer,
  ...policyColumns,
  tokenPolicy: optional(tokenPolicy),
  tags: tagsColumn,
});

const members = tableOf<Pick<Holder, "members">>({
  members: optional(json({ parse: (value): readonly string[] => (Array.isArray(value) ? value.map(String) : []) })),
});

const MEMBERS = perEngine({
  sqlite: `CASE WHEN kind = 'project' THEN (SELECT json_group_array(user_id)
    FROM (SELECT user_id FROM project_members WHERE project_id = account_holders.id ORDER BY user_id)) END AS members`,
  postgres: `CASE WHEN kind = 'project' THEN (SELECT coalesce(json_agg(user_id ORDER BY user_id), '[]')::text
    FROM project_members WHERE project_id = account_holders.id) END AS members`,
});

/** The columns of a holder, of whose table the alias is its name. */
export const holders = {
  names: sql`${columns.names}, ${MEMBERS}`,
  read: (row: SqlRow): Holder => ({ ...columns.read(row), ...members.read(row) }),
};

/**
 * The holder with this id or name. No name is the id of another one, unless that is deleted. With `id = … OR name = …` SQLite would
 * read all holders of the kind.
 */
export function selectHolder(kind: HolderKind, idOrName: string): Statement {
  return sql`SELECT ${holders.names} FROM account_holders
    WHERE kind = ${kind} AND deleted_at IS NULL AND id IN (${idOrName}, (SELECT id FROM account_holders
      WHERE kind = ${kind} AND deleted_at IS NULL AND name = ${idOrName}))`;
}

export interface PlacesFilter {
  users: readonly string[];
  projects: readonly string[];
  /** Those of organisations. */
  accounts: readonly string[];
}

/** The users and projects with these ids, and the organisations with these accounts. */
export function selectPlaces({ users, projects, accounts }: PlacesFilter): Statement {
  return sql`SELECT ${holders.names} FROM account_holders WHERE kind = 'user' AND deleted_at IS NULL AND id IN (${textsIn(users)})
    UNION ALL SELECT ${holders.names} FROM account_holders
    WHERE kind = 'project' AND deleted_at IS NULL AND id IN (${textsIn(projects)})
    UNION ALL SELECT ${holders.names} FROM account_holders
    WHERE kind = 'organisation' AND deleted_at IS NULL AND account_id IN (${textsIn(accounts)})`;
}

export function findHolder(kind: HolderKind, idOrName: string): Steps<Holder | undefined> {
  return firstOf(selectHolder(kind, idOrName), holders.read);
}

/** The holder with this id. A deleted one's may be the name of another one by now. */
export function* findById(kind: HolderKind, id: string): Steps<Holder | undefined> {
  const holder = yield* findHolder(kind, id);
  return holder?.id === id ? holder : undefined;
}

/** The user or project that is this owner of records. */
export function findOwner(owner: string): Steps<Holder | undefined> {
  const { kind, id } = ownerPlace(owner);
  return findById(kind, id);
}

/** Whether a holder has this id, or had it before its deletion. */
export function* hasHolder(kind: HolderKind, id: string): Steps<boolean> {
  return (yield sql`SELECT id FROM account_holders WHERE kind = ${kind} AND id = ${id}`).length > 0;
}

export function insertHolder(holder: Holder): Statement {
  return sql`INSERT INTO account_holders (${columns.names}) VALUES (${columns.values(holder)})`;
}

/** Writes the variable members of a holder, with its next version. */
export function updateHolder({ kind, id, name, role, organisationId, ...rest }: Holder): Statement {
  const {
    accountId,
    disabledAt,
    deletedAt,
    models,
    tools,
    rpm,
    tpm,
    concurrency,
    expiresAt,
    tokenPolicy: policy,
    tags,
  } = rest;
  return sql`UPDATE account_holders SET name = ${name}, role = ${role}, organisation_id = ${organisationId},
      account_id = ${accountId}, disabled_at = ${disabledAt}, deleted_at = ${deletedAt},
      models = ${models?.join(",")}, tools = ${tools?.join(",")}, rpm = ${rpm}, tpm = ${tpm}, concurrency = ${concurrency},
      expires_at = ${expiresAt}, token_policy = ${policy && tokenPolicy.write(policy)}, tags = ${tags?.join(",")},
      version = version + 1
    WHERE kind = ${kind} AND id = ${id}`;
}

/** Gives the tokens of a user that have no role of their own this one. */
export function pinRole(user: string, role: string): Statement {
  return sql`UPDATE tokens SET role = ${role}, version = version + 1 WHERE user_name = ${user} AND role IS NULL`;
}

/** Whether there is an owner who can act at this time. */
export function* hasOwner(at: number): Steps<boolean> {
  const owners =
    yield sql`SELECT id FROM account_holders u WHERE kind = 'user' AND role = 'owner' AND disabled_at IS NULL
      AND deleted_at IS NULL AND (expires_at IS NULL OR expires_at > ${at}) AND NOT EXISTS (SELECT 1 FROM account_holders o
        WHERE o.kind = 'organisation' AND o.id = u.organisation_id
          AND (o.disabled_at IS NOT NULL OR o.expires_at <= ${at}))
    LIMIT 1`;
  return owners.length > 0;
}

export function renameAccount(id: string, name: string): Statement {
  return sql`UPDATE accounts SET name = ${name} WHERE id = ${id}`;
}

/** As `ledger_commit` does, in the order of their ids. */
export const lockAccounts = (ids: readonly string[]): Statement =>
  sql`SELECT id FROM accounts WHERE id IN (${textsIn(ids)}) ORDER BY id ${LOCK}`;

interface Page {
  limit: number;
  after: string;
  organisation?: string | undefined;
  /** The id of a user, whose projects are wanted. */
  member?: string | undefined;
}

/** Compared with this, SQLite takes the index of organisations, and does not read all holders of the kind. */
const KIND_WITHOUT_INDEX = perEngine({ sqlite: "+kind", postgres: "kind" });

/** The holders of a kind by id; with an organisation, its users or projects, or itself; with a member, their projects. */
export function selectHolders(kind: HolderKind, { limit, after, organisation, member }: Page): Statement {
  if (member !== undefined)
    return sql`SELECT ${holders.names} FROM account_holders
      WHERE kind = 'project' AND deleted_at IS NULL AND id > ${after}
        AND id IN (SELECT project_id FROM project_members WHERE user_id = ${member}) ORDER BY id LIMIT ${limit}`;
  if (organisation === undefined)
    return sql`SELECT ${holders.names} FROM account_holders
      WHERE kind = ${kind} AND deleted_at IS NULL AND id > ${after} ORDER BY id LIMIT ${limit}`;
  if (kind === "organisation")
    return sql`SELECT ${holders.names} FROM account_holders
      WHERE kind = ${kind} AND deleted_at IS NULL AND id = ${organisation} AND id > ${after}`;
  return sql`SELECT ${holders.names} FROM account_holders
    WHERE ${KIND_WITHOUT_INDEX} = ${kind} AND deleted_at IS NULL AND organisation_id = ${organisation} AND id > ${after}
    ORDER BY id LIMIT ${limit}`;
}

export function selectHoldersIn(kind: OwnerKind, ids: readonly string[]): Statement {
  return sql`SELECT ${holders.names} FROM account_holders WHERE kind = ${kind} AND id IN (${textsIn(ids)})`;
}

/** Whether an organisation has users or projects. */
export function* hasHolders(organisation: string): Steps<boolean> {
  const found = yield sql`SELECT id FROM account_holders
    WHERE organisation_id = ${organisation} AND deleted_at IS NULL LIMIT 1`;
  return found.length > 0;
}

/** Makes these users and no others the members of a project. */
export function* setMembers(project: string, users: readonly string[]): Steps<void> {
  yield sql`DELETE FROM project_members WHERE project_id = ${project} AND user_id NOT IN (${textsIn(users)})`;
  yield sql`INSERT INTO project_members (project_id, user_id)
    SELECT id, user_id FROM (SELECT CAST(${project} AS text) AS id) p, (SELECT id AS user_id FROM account_holders
      WHERE kind = 'user' AND id IN (${textsIn(users)})) u
    WHERE true ON CONFLICT (project_id, user_id) DO NOTHING`;
}

/** Takes a user out of all projects. */
export const leaveProjects = (user: string): Statement => sql`DELETE FROM project_members WHERE user_id = ${user}`;

// As `ownerOf` writes it.
const OWNER = sql`CASE kind WHEN 'project' THEN 'project:' || id ELSE id END`;

/** The owners of records in an organisation. */
export const ownersOf = (organisation: string): Statement =>
  sql`SELECT ${OWNER} FROM account_holders WHERE organisation_id = ${organisation}`;
