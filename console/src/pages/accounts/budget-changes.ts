import type { FieldText } from "../../ui/field-text.ts";
import { minuteOf, numberOrNull, textOf, textOrNull, timeOrNull } from "./account-changes.ts";
import type { Budget } from "./types.ts";

/** The texts of the fields of a budget; of a new one, without a budget. */
export function budgetTexts(budget?: Budget): Record<string, string> {
  const { max_budget: most, period, start, models, raise } = budget ?? {};
  return {
    max_budget: textOf(most),
    period: budget === undefined ? "monthly" : textOf(period),
    start: textOf(start),
    models: textOf(models),
    raise_by: textOf(raise?.by),
    raise_until: minuteOf(raise?.until),
  };
}

/** The members of the API that differ from a budget, for a `PATCH`; all that are filled in, for a `POST`. */
export function budgetChanges(text: FieldText, budget?: Budget): Record<string, unknown> {
  const before = budgetTexts(budget);
  const differs = (...names: string[]) => names.some((name) => text(name) !== before[name]);
  const by = numberOrNull(text("raise_by"));
  return {
    ...((budget === undefined || differs("max_budget")) && { max_budget: Number(text("max_budget")) }),
    ...((budget === undefined || differs("period")) && { period: textOrNull(text("period")) }),
    ...(differs("start") && { start: numberOrNull(text("start")) }),
    ...(differs("models") && { models: textOrNull(text("models")) }),
    ...(differs("raise_by", "raise_until") && {
      raise: by === null ? null : { by, until: timeOrNull(text("raise_until")) },
    }),
  };
}
