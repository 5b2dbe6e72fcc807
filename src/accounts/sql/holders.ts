import { policyColumns, roleColumn } from "../../auth/index.ts";
import { column, firstOf, LOCK, sql, type Statement, type Steps, tableOf, textsIn } from "../../storage/index.ts";
import type { Holder, HolderKind, TokenPolicy } from "../holder.ts";

const { text, integer, oneOf, optional } = column;

const tokenPolicy = {
  read: (value: unknown): TokenPolicy | undefined => {
    if (typeof value !== "string") return undefined;
    const { maxBudget, ...rest } = JSON.parse(value) as Omit<TokenPolicy, "maxBudget"> & { maxBudget?: string };
    return { ...rest, ...(maxBudget !== undefined && { maxBudget: BigInt(maxBudget) }) };
  },
  write: (policy: TokenPolicy): string => JSON.stringify({ ...policy, maxBudget: policy.maxBudget?.toString() }),
};

export const holders = tableOf<Holder>({
  kind: oneOf<HolderKind>({ organisation: true, user: true }),
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
});

/**
 * The holder with this id or name. No name is the id of another one, unless that is deleted. With `id = … OR name = …` SQLite would
 * read all holders of the kind.
 */
export function selectHolder(kind: HolderKind, idOrName: string): Statement {
  return sql`SELECT ${holders.names} FROM account_holders
    WHERE kind = ${kind} AND deleted_at IS NULL AND id IN (${idOrName}, (SELECT id FROM account_holders
      WHERE kind = ${kind} AND deleted_at IS NULL AND name = ${idOrName}))`;
}

export function findHolder(kind: HolderKind, idOrName: string): Steps<Holder | undefined> {
  return firstOf(selectHolder(kind, idOrName), holders.read);
}

/** The user with this id. A deleted user's may be the name of another one by now. */
export function* findUserById(id: string): Steps<Holder | undefined> {
  const user = yield* findHolder("user", id);
  return user?.id === id ? user : undefined;
}

/** Whether a holder has this id, or had it before its deletion. */
export function* hasHolder(kind: HolderKind, id: string): Steps<boolean> {
  return (yield sql`SELECT id FROM account_holders WHERE kind = ${kind} AND id = ${id}`).length > 0;
}

export function insertHolder(holder: Holder): Statement {
  return sql`INSERT INTO account_holders (${holders.names}) VALUES (${holders.values(holder)})`;
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
  } = rest;
  return sql`UPDATE account_holders SET name = ${name}, role = ${role}, organisation_id = ${organisationId},
      account_id = ${accountId}, disabled_at = ${disabledAt}, deleted_at = ${deletedAt},
      models = ${models?.join(",")}, tools = ${tools?.join(",")}, rpm = ${rpm}, tpm = ${tpm}, concurrency = ${concurrency},
      expires_at = ${expiresAt}, token_policy = ${policy && tokenPolicy.write(policy)}, version = version + 1
    WHERE kind = ${kind} AND id = ${id}`;
}

/** Gives the tokens of a user that have no role of their own this one. */
export function pinRole(user: string, role: string): Statement {
  return sql`UPDATE tokens SET role = ${role}, version = version + 1 WHERE user_name = ${user} AND role IS NULL`;
}

/** Whether there is an owner who can act. */
export function* hasOwner(): Steps<boolean> {
  const owners =
    yield sql`SELECT id FROM account_holders u WHERE kind = 'user' AND role = 'owner' AND disabled_at IS NULL
      AND deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM account_holders o
        WHERE o.kind = 'organisation' AND o.id = u.organisation_id AND o.disabled_at IS NOT NULL)
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
  organisation: string | undefined;
}

/** The holders of a kind by id; with an organisation, its users, or itself. */
export function selectHolders(kind: HolderKind, { limit, after, organisation }: Page): Statement {
  if (organisation === undefined)
    return sql`SELECT ${holders.names} FROM account_holders
      WHERE kind = ${kind} AND deleted_at IS NULL AND id > ${after} ORDER BY id LIMIT ${limit}`;
  if (kind === "organisation")
    return sql`SELECT ${holders.names} FROM account_holders
      WHERE kind = ${kind} AND deleted_at IS NULL AND id = ${organisation} AND id > ${after}`;
  // Only users have an organisation; with their kind as well, SQLite would read all users.
  return sql`SELECT ${holders.names} FROM account_holders
    WHERE deleted_at IS NULL AND organisation_id = ${organisation} AND id > ${after}
    ORDER BY id LIMIT ${limit}`;
}

export function selectUsers(ids: readonly string[]): Statement {
  return sql`SELECT ${holders.names} FROM account_holders WHERE kind = 'user' AND id IN (${textsIn(ids)})`;
}

/** Whether an organisation has users. */
export function* hasUsers(organisation: string): Steps<boolean> {
  const users = yield sql`SELECT id FROM account_holders
    WHERE organisation_id = ${organisation} AND deleted_at IS NULL LIMIT 1`;
  return users.length > 0;
}
