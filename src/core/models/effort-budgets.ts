import type { Effort } from "./model-facts.ts";

/** Upstreams with budgets refuse fewer tokens. */
export const budgetTokensMin = 1024;

/** Reasoning tokens, for an upstream that counts them. `none` means no reasoning. */
export const budgetOfEffort: Readonly<Record<Exclude<Effort, "none">, number>> = {
  minimal: budgetTokensMin,
  low: 4_096,
  medium: 10_240,
  high: 24_576,
  xhigh: 40_960,
  max: 65_536,
};

/** The lowest effort whose budget is at least as large: the inverse of `budgetOfEffort`. */
export function effortOfBudget(tokens: number): Effort {
  const rising = ["minimal", "low", "medium", "high", "xhigh"] as const;
  return rising.find((effort) => tokens <= budgetOfEffort[effort]) ?? "max";
}
