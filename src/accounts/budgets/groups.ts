/** Model groups: named lists of globs, for budgets. */
import { randomId } from "../../core/index.ts";
import type { Steps } from "../../storage/index.ts";
import { AccountError } from "../account-error.ts";
import { type ActContext, actOptions, requireVersion } from "../acts/act-context.ts";
import type { AccountsDependencies } from "../dependencies.ts";
import { requireFewBudgets } from "../sql/budgets-beside.ts";
import { deleteGroupRow, findGroup, insertGroup, isUsed, type ModelGroup, updateGroup } from "../sql/budgets.ts";

export interface GroupRequest {
  name: string;
  models: readonly string[];
}

/** A group in answers, CLI output and the audit log. */
export function groupJson({ id, name, models, createdAt }: ModelGroup) {
  return {
    object: "model_group" as const,
    id,
    name,
    models: [...models],
    created_at: new Date(createdAt).toISOString(),
  };
}

/** Throws an `AccountError`, with 409 if the name is taken. */
export function addGroup(
  deps: AccountsDependencies,
  { name, models }: GroupRequest,
  context: ActContext = {},
): Promise<ModelGroup> {
  const { clock, randomBytes } = deps.environment;
  return deps.log.act(actOptions(deps, context), function* (note) {
    const group = { id: `group_${randomId(randomBytes, 16)}`, name, models, createdAt: clock(), version: 1 };
    yield* requireFreeName(group);
    yield insertGroup(group);
    note({ act: "model_group.create", target: `model_group:${group.id}`, after: groupJson(group) });
    return group;
  });
}

/** The calls from now on count by the new list. Throws an `AccountError`. */
export function changeGroup(
  deps: AccountsDependencies,
  idOrName: string,
  changes: { [Member in keyof GroupRequest]?: GroupRequest[Member] | undefined },
  context: ActContext = {},
): Promise<ModelGroup> {
  return deps.log.act(actOptions(deps, context), function* (note) {
    const before = yield* groupSteps(idOrName);
    requireVersion(context, before.version);
    const after = { ...before, name: changes.name ?? before.name, models: changes.models ?? before.models };
    if (Bun.deepEquals(before, after)) return before;
    yield* requireFreeName(after);
    yield updateGroup(after);
    yield* requireFewBudgets();
    const target = `model_group:${before.id}`;
    note({ act: "model_group.change", target, before: groupJson(before), after: groupJson(after) });
    return { ...after, version: before.version + 1 };
  });
}

/** Throws an `AccountError`, with 409 if a budget is for it. */
export function deleteGroup(
  deps: AccountsDependencies,
  idOrName: string,
  context: ActContext = {},
): Promise<ModelGroup> {
  return deps.log.act(actOptions(deps, context), function* (note) {
    const group = yield* groupSteps(idOrName);
    requireVersion(context, group.version);
    if (yield* isUsed(group.id)) throw new AccountError(`there are budgets for the model group ${group.name}`);
    yield deleteGroupRow(group.id);
    note({ act: "model_group.delete", target: `model_group:${group.id}`, before: groupJson(group) });
    return group;
  });
}

export function* groupSteps(idOrName: string): Steps<ModelGroup> {
  const group = yield* findGroup(idOrName);
  if (group === undefined) throw noGroup(idOrName);
  return group;
}

export function noGroup(idOrName: string): AccountError {
  return new AccountError(`there is no model group ${idOrName}`, "account_not_found");
}

function* requireFreeName({ id, name }: ModelGroup): Steps<void> {
  const other = yield* findGroup(name);
  if (other !== undefined && other.id !== id)
    throw new AccountError(`there is a model group ${name} already`, "name_taken");
}
