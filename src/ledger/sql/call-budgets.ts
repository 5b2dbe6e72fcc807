import { matchesGlob } from "../../core/index.ts";

/**
 * The accounts of the budgets that a call counts in beside its chain; undefined for none. A hold and its entries name them, so that it
 * ends in those in which it was taken.
 */
export type CallBudgets = readonly string[] | undefined;

/** A budget of an account of a chain. */
export interface ModelBudget {
  accountId: string;
  /** Globs of the ids, with prefix, of the models whose calls count; undefined for all. */
  models: readonly string[] | undefined;
}

/** A row of `budgets` with its group's globs, as JSON. */
export interface BudgetRow {
  id: string;
  models: string | null;
}

/** The account of a budget, by its id. */
const budgetAccountId = (id: string): string => `budget:${id}`;

export function readBudget({ id, models }: BudgetRow): ModelBudget {
  return { accountId: budgetAccountId(id), models: models === null ? undefined : (JSON.parse(models) as string[]) };
}

/** Those in which a call of a model counts. */
export function budgetsFor(budgets: readonly ModelBudget[], model: string): CallBudgets {
  const counted = budgets.filter(({ models }) => models?.some((glob) => matchesGlob(glob, model)) ?? true);
  return counted.length === 0 ? undefined : counted.map(({ accountId }) => accountId);
}

const NONE = { kept: undefined, added: [], dropped: [] };

/** How the budgets of a hold change as it is given to another model. */
export function movedBudgets(before: CallBudgets, after: CallBudgets) {
  if (before === undefined && after === undefined) return NONE;
  const [old, now] = [new Set(before), new Set(after)];
  return { kept: [...now.intersection(old)], added: [...now.difference(old)], dropped: [...old.difference(now)] };
}

export function storedBudgets(budgets: CallBudgets): string | null {
  return budgets === undefined ? null : JSON.stringify(budgets);
}

export function readBudgets(stored: string | null): CallBudgets {
  return stored === null ? undefined : (JSON.parse(stored) as string[]);
}
