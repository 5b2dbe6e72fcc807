import { creditsNumber } from "../../core/index.ts";
import { availableOf } from "../../ledger/index.ts";
import { creditsOrNull, timeOrNull } from "../budget-json.ts";
import type { AccountLevel } from "../holder.ts";
import type { BudgetState } from "../sql/budgets.ts";

/** The settings of a budget, as the audit log and the API have them: in credits. */
export function budgetSettings({ budget, owner, group, account }: BudgetState) {
  const { id, ownerKind, ownerId } = budget;
  const ofOwner = (kind: AccountLevel): string | null => (kind === ownerKind ? owner.name : null);
  const { maxBudget = 0n, period = null, periodFrom = null, raisedBy, raisedUntil } = account;
  const isRaised = raisedBy !== undefined && raisedUntil !== undefined;
  return {
    id,
    organisation: ofOwner("organisation"),
    user: ofOwner("user"),
    project: ofOwner("project"),
    token: ownerKind === "token" ? ownerId : null,
    owner_id: ownerId,
    models: group?.name ?? null,
    max_budget: creditsNumber(maxBudget),
    period,
    start: periodFrom,
    raise: isRaised ? { by: creditsNumber(raisedBy), until: new Date(raisedUntil).toISOString() } : null,
  };
}

/** A budget in answers and CLI output. */
export function accountBudgetJson(state: BudgetState) {
  const { account, budget, resetsAt } = state;
  return {
    object: "budget" as const,
    ...budgetSettings(state),
    spend: creditsNumber(account.periodDebits),
    held: creditsNumber(account.debitsPending),
    available: creditsOrNull(availableOf(account)),
    period_reset_at: timeOrNull(resetsAt),
    created_at: new Date(budget.createdAt).toISOString(),
  };
}
