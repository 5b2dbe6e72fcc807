import type { AccountState } from "../../ledger/index.ts";
import type { AccountsDependencies } from "../dependencies.ts";
import { findHolderState, findTokenState } from "../find-state.ts";
import type { AccountLevel } from "../holder.ts";
import { reachesAll } from "../reach.ts";
import { accountIdOf, noBudget, stateOf } from "./budgets.ts";
import { noGroup } from "./groups.ts";
import type { Budget, BudgetState, ModelGroup } from "../sql/budgets.ts";

export interface BudgetPage {
  limit: number;
  /** The last id of the page before. */
  after?: string | undefined;
  /** Of this owner only, by id or name. */
  owner?: { kind: AccountLevel; name: string } | undefined;
}

/** The budgets of the caller's reach, by id. Throws 404 if the owner is out of it. */
export async function listBudgets(deps: AccountsDependencies, page: BudgetPage): Promise<BudgetState[]> {
  const { caller, holders } = deps;
  const { limit, after = "" } = page;
  const organisation = reachesAll(caller) ? undefined : caller.organisation;
  if (!reachesAll(caller) && (caller.role !== "organisation_admin" || organisation === undefined)) return [];
  const owner = page.owner && { kind: page.owner.kind, id: await ownerIdOf(deps, page.owner) };
  return statesOf(deps, await holders.budgets({ limit, after, organisation, owner }));
}

async function ownerIdOf(
  deps: AccountsDependencies,
  { kind, name }: NonNullable<BudgetPage["owner"]>,
): Promise<string> {
  if (kind === "token") return (await findTokenState(deps, name)).token.id;
  return (await findHolderState(deps, { kind, name })).holder.id;
}

/** One budget as it is now. Throws 404 if there is none in the caller's reach. */
export async function findBudget(deps: AccountsDependencies, id: string): Promise<BudgetState> {
  const budget = await deps.holders.budget(id);
  if (budget === undefined) throw noBudget(id);
  await ownerIdOf(deps, { kind: budget.ownerKind, name: budget.ownerId }).catch(() => {
    throw noBudget(id);
  });
  const [state] = await statesOf(deps, [budget]);
  if (state === undefined) throw noBudget(id);
  return state;
}

async function statesOf(
  { holders, ledger, environment }: Pick<AccountsDependencies, "holders" | "ledger" | "environment">,
  found: readonly Budget[],
) {
  if (found.length === 0) return [];
  const at = environment.clock();
  const groups = await holders.groupsIn(found.flatMap(({ groupId }) => groupId ?? []));
  const groupOf = new Map(groups.map((group) => [group.id, group]));
  const ids = found.flatMap(({ id, accountId }) => [accountId, accountIdOf(id)]);
  const accounts = new Map((await ledger.read(ids, at)).map((account) => [account.id, account]));
  return found.flatMap((budget) => {
    const [owner, account] = [accounts.get(budget.accountId), accounts.get(accountIdOf(budget.id))];
    if (owner === undefined || account === undefined) return [];
    return [stateOf({ budget, group: groupOf.get(budget.groupId ?? ""), owner, account }, at, ledger.calendar)];
  });
}

/** The budgets beside a chain, in any order. */
export async function budgetsBeside(
  deps: Pick<AccountsDependencies, "holders" | "ledger" | "environment">,
  chain: readonly AccountState[],
): Promise<BudgetState[]> {
  return statesOf(deps, await deps.holders.budgetsOf(chain.map(({ id }) => id)));
}

/** The accounts of those that count calls of all models. */
export const accountsForAll = (beside: readonly BudgetState[]): AccountState[] =>
  beside.flatMap(({ group, account }) => (group === undefined ? [account] : []));

/** The model groups, by id: every caller of these routes may know of all. */
export function listGroups({ holders }: AccountsDependencies, page: { limit: number; after?: string | undefined }) {
  return holders.groups({ limit: page.limit, after: page.after ?? "" });
}

/** Throws 404 if there is none. */
export async function findModelGroup({ holders }: AccountsDependencies, idOrName: string): Promise<ModelGroup> {
  const group = await holders.group(idOrName);
  if (group === undefined) throw noGroup(idOrName);
  return group;
}
