import type { AccountState } from "../../ledger/index.ts";
import { column, firstOf, sql, type Statement, type Steps, tableOf, textsIn } from "../../storage/index.ts";
import { type AccountLevel, type Holder, ownerOf } from "../holder.ts";
import { lockAccounts, ownersOf } from "./holders.ts";

const { text, integer, json, oneOf, optional } = column;

/** A named list of models, whose calls some budgets count. */
export interface ModelGroup {
  id: string;
  name: string;
  /** Globs of ids with prefix. */
  models: readonly string[];
  createdAt: number;
  version: number;
}

/** A budget beside all chains through an account; `budget:<id>` is its own account, with the limits and the counters. */
export interface Budget {
  id: string;
  ownerKind: AccountLevel;
  /** The id of the owner, who may get another account. */
  ownerId: string;
  /** The owner's. */
  accountId: string;
  /** Undefined for all models. */
  groupId: string | undefined;
  createdAt: number;
  deletedAt: number | undefined;
  version: number;
}

/** A budget with its owner's account and its own. */
export interface BudgetState {
  budget: Budget;
  group: ModelGroup | undefined;
  owner: AccountState;
  account: AccountState;
  /** When its period ends, in milliseconds since the epoch. */
  resetsAt: number | undefined;
}

const globs = json({ parse: (value): readonly string[] => (Array.isArray(value) ? value.map(String) : []) });

export const groups = tableOf<ModelGroup>({
  id: text,
  name: text,
  models: globs,
  createdAt: integer,
  version: integer,
});

export const budgets = tableOf<Budget>({
  id: text,
  ownerKind: oneOf<AccountLevel>({ organisation: true, user: true, project: true, token: true }),
  ownerId: text,
  accountId: text,
  groupId: optional(text),
  createdAt: integer,
  deletedAt: optional(integer),
  version: integer,
});

export function selectGroup(idOrName: string): Statement {
  return sql`SELECT ${groups.names} FROM model_groups
    WHERE id IN (${idOrName}, (SELECT id FROM model_groups WHERE name = ${idOrName}))`;
}

export function findGroup(idOrName: string): Steps<ModelGroup | undefined> {
  return firstOf(selectGroup(idOrName), groups.read);
}

export function insertGroup(group: ModelGroup): Statement {
  return sql`INSERT INTO model_groups (${groups.names}) VALUES (${groups.values(group)})`;
}

export function updateGroup({ id, name, models }: ModelGroup): Statement {
  return sql`UPDATE model_groups SET name = ${name}, models = ${JSON.stringify(models)}, version = version + 1 WHERE id = ${id}`;
}

export const deleteGroupRow = (id: string): Statement => sql`DELETE FROM model_groups WHERE id = ${id}`;

/** Whether a budget is for the group. */
export function* isUsed(group: string): Steps<boolean> {
  return (yield sql`SELECT id FROM budgets WHERE group_id = ${group} AND deleted_at IS NULL LIMIT 1`).length > 0;
}

export const selectGroups = (after: string, limit: number): Statement =>
  sql`SELECT ${groups.names} FROM model_groups WHERE id > ${after} ORDER BY id LIMIT ${limit}`;

export const selectGroupsIn = (ids: readonly string[]): Statement =>
  sql`SELECT ${groups.names} FROM model_groups WHERE id IN (${textsIn(ids)})`;

export const selectBudget = (id: string): Statement =>
  sql`SELECT ${budgets.names} FROM budgets WHERE id = ${id} AND deleted_at IS NULL`;

export const selectBudgetsOf = (accountIds: readonly string[]): Statement =>
  sql`SELECT ${budgets.names} FROM budgets WHERE account_id IN (${textsIn(accountIds)}) AND deleted_at IS NULL ORDER BY id`;

export function insertBudget(budget: Budget): Statement {
  return sql`INSERT INTO budgets (${budgets.names}) VALUES (${budgets.values(budget)})`;
}

/** From now on, commits look for budgets of the account. One that is under way has locked its row, or waits for this. */
export const markAccount = (id: string): Statement => sql`UPDATE accounts SET has_budgets = ${true} WHERE id = ${id}`;

const HAS_BUDGETS = sql`EXISTS (SELECT 1 FROM budgets b WHERE b.account_id = accounts.id AND b.deleted_at IS NULL)`;

const COUNTED_HOLDS = sql`holds h JOIN accounts t ON t.id = h.account_id`;

/**
 * The chains of the calls under way that count in a budget, of any account of theirs. It does not depend on a row, so that a statement
 * reads the holds once.
 */
const COUNTED_CHAINS = sql`SELECT t.id FROM ${COUNTED_HOLDS} WHERE h.budgets IS NOT NULL
  UNION SELECT t.parent_id FROM ${COUNTED_HOLDS} WHERE h.budgets IS NOT NULL AND t.parent_id IS NOT NULL
  UNION SELECT u.parent_id FROM ${COUNTED_HOLDS} JOIN accounts u ON u.id = t.parent_id
    WHERE h.budgets IS NOT NULL AND u.parent_id IS NOT NULL
  UNION SELECT o.parent_id FROM ${COUNTED_HOLDS} JOIN accounts u ON u.id = t.parent_id JOIN accounts o ON o.id = u.parent_id
    WHERE h.budgets IS NOT NULL AND o.parent_id IS NOT NULL`;

/** Accounts that one act takes the mark from, whose locks commits wait for; the next one takes it from others. */
const UNMARKED_MAX = 100;

/**
 * Takes the mark from accounts that have no budgets any more, so that their calls need the plain commit alone; a transaction of its
 * own, since commits lock accounts in this order. An account keeps the mark while a call counts in a budget: the plain commit ends no
 * such call. That is read after the lock, which a commit that takes one holds.
 */
export function* unmarkAccounts(): Steps<void> {
  const rows =
    yield sql`SELECT id FROM accounts WHERE has_budgets AND NOT ${HAS_BUDGETS} AND id NOT IN (${COUNTED_CHAINS})
    ORDER BY id LIMIT ${UNMARKED_MAX}`;
  if (rows.length === 0) return;
  const ids = rows.map((row) => String(row["id"]));
  yield lockAccounts(ids);
  yield sql`UPDATE accounts SET has_budgets = ${false}
    WHERE id IN (${textsIn(ids)}) AND NOT ${HAS_BUDGETS} AND id NOT IN (${COUNTED_CHAINS})`;
}

export function updateBudget({ id, groupId, deletedAt }: Budget): Statement {
  return sql`UPDATE budgets SET group_id = ${groupId}, deleted_at = ${deletedAt}, version = version + 1 WHERE id = ${id}`;
}

/** The owner is gone, and with a user or project the tokens. */
export const deleteBudgetsOf = (holder: Pick<Holder, "kind" | "id">, at: number): Statement =>
  sql`UPDATE budgets SET deleted_at = ${at}, version = version + 1
    WHERE deleted_at IS NULL AND (owner_kind = ${holder.kind} AND owner_id = ${holder.id}
      OR owner_kind = 'token' AND owner_id IN (SELECT id FROM tokens
        WHERE user_name = ${holder.kind === "organisation" ? undefined : ownerOf(holder)}))`;

/** The owner has another account, beside whose chains they stand from now on, with what was spent of them. */
export function* moveBudgets(kind: AccountLevel, id: string, accountId: string): Steps<void> {
  yield sql`UPDATE budgets SET account_id = ${accountId} WHERE owner_kind = ${kind} AND owner_id = ${id} AND deleted_at IS NULL`;
  yield sql`UPDATE accounts SET has_budgets = ${true}
    WHERE id = ${accountId} AND EXISTS (SELECT 1 FROM budgets WHERE account_id = ${accountId})`;
}

export interface BudgetFilter {
  after: string;
  limit: number;
  /** Those of an organisation, its users and projects, and their tokens. */
  organisation?: string | undefined;
  /** Those of this owner alone. */
  owner?: { kind: AccountLevel; id: string } | undefined;
}

const holdersOf = (organisation: string): Statement =>
  sql`SELECT kind, id FROM account_holders WHERE organisation_id = ${organisation}`;

export function selectBudgets({ after, limit, organisation, owner }: BudgetFilter): Statement {
  if (owner !== undefined)
    return sql`SELECT ${budgets.names} FROM budgets
      WHERE owner_kind = ${owner.kind} AND owner_id = ${owner.id} AND deleted_at IS NULL AND id > ${after}
      ORDER BY id LIMIT ${limit}`;
  if (organisation === undefined)
    return sql`SELECT ${budgets.names} FROM budgets WHERE deleted_at IS NULL AND id > ${after} ORDER BY id LIMIT ${limit}`;
  return sql`SELECT ${budgets.names} FROM budgets WHERE deleted_at IS NULL AND id > ${after}
    AND (owner_kind = 'organisation' AND owner_id = ${organisation}
      OR (owner_kind, owner_id) IN (${holdersOf(organisation)})
      OR owner_kind = 'token' AND owner_id IN (SELECT id FROM tokens WHERE user_name IN (${ownersOf(organisation)})))
    ORDER BY id LIMIT ${limit}`;
}
