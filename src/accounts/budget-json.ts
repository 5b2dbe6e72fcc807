import { creditsNumber, type Nano } from "../core/index.ts";
import type { LevelBudget } from "./budget-info.ts";

/** A budget in answers and CLI output: in credits, null without a limit. */
export function budgetJson(budget: LevelBudget | undefined) {
  return {
    max_budget: creditsOrNull(budget?.maxBudget),
    spend: creditsNumber(budget?.spend ?? 0n),
    held: creditsNumber(budget?.held ?? 0n),
    available: creditsOrNull(budget?.available),
    period: budget?.period ?? null,
    period_reset_at: timeOrNull(budget?.periodReset),
  };
}

/** An account of a chain with its budget, in answers and CLI output. */
export function levelJson(level: LevelBudget) {
  return { level: level.kind, name: level.name, balance: creditsOrNull(level.balance), ...budgetJson(level) };
}

export function creditsOrNull(nano: Nano | undefined): number | null {
  return nano === undefined ? null : creditsNumber(nano);
}

export function timeOrNull(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}
