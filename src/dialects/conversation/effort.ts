import { type Dialect, type Effort, nearestEffort } from "../../core/index.ts";
import type { ReasoningOptions } from "./conversation.ts";
import type { TranslationTarget } from "./translation.ts";

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

/** Whether the client expects to see thoughts: by its thinking in Messages, by a summary in Responses. */
export function wantsThoughts({ mode, effort, display, summary }: ReasoningOptions, dialect: Dialect): boolean {
  if (mode === "off" || effort === "none" || display === "omitted") return false;
  return (dialect === "messages" && mode !== undefined) || (dialect === "responses" && summary !== undefined);
}

/** The requested reasoning as an effort: `off` for none. */
interface EffortWish {
  mode?: string | undefined;
  effort?: Effort | undefined;
  budgetTokens?: number | undefined;
}

/**
 * The effort for an upstream without budgets: a budget becomes the corresponding effort. If thinking is switched off,
 * nothing is sent to an upstream that is not known to support that: most refuse an unknown effort.
 */
export function effortFor(
  reasoning: EffortWish | undefined,
  { efforts: offered, changed }: Pick<TranslationTarget, "efforts" | "changed">,
): Effort | undefined {
  if (reasoning === undefined) return undefined;
  const { effort, budgetTokens, mode } = reasoning;
  const off = mode === "off" && offered?.includes("none") === true ? "none" : undefined;
  const requested =
    mode === "off" ? off : (effort ?? (budgetTokens === undefined ? undefined : effortOfBudget(budgetTokens)));
  if (requested === undefined || offered === undefined) return requested;
  const nearest = nearestEffort(requested, offered);
  if (nearest !== requested) changed?.("efforts");
  return nearest;
}
