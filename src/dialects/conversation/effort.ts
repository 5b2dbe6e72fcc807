import { type Dialect, type Effort, effortOfBudget, nearestEffort } from "../../core/index.ts";
import type { ReasoningOptions } from "./conversation.ts";
import type { TranslationTarget } from "./translation.ts";

/** Whether the client expects to see thoughts: by its thinking in Messages, by a summary in Responses, or by asking for them in Gemini. */
export function wantsThoughts({ mode, effort, display, summary }: ReasoningOptions, dialect: Dialect): boolean {
  if (mode === "off" || effort === "none" || display === "omitted") return false;
  return (
    (dialect === "messages" && mode !== undefined) ||
    ((dialect === "responses" || dialect === "gemini") && summary !== undefined)
  );
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
