/** Budgets of LiteLLM's rows. */
import type { ImportedBudget } from "../../accounts/index.ts";
import { type Calendar, objectOf } from "../../core/index.ts";
import type { Findings } from "../finding.ts";
import type { LitellmRow } from "../sql/read-database.ts";
import { nanoOf, numberIn, textIn, timeIn } from "./values.ts";
import { windowOf } from "./windows.ts";

interface BudgetReaderOptions {
  /** By budget_id. */
  shared: ReadonlyMap<string, LitellmRow>;
  /** Of LiteLLM_BudgetWindowSpend. */
  windows: readonly LitellmRow[];
  calendar: Calendar;
  at: number;
  findings: Findings;
}

/** Whose budgets are read. */
interface BudgetOwner {
  owner: ImportedBudget["owner"];
  row: LitellmRow;
  /** `key`, `team`: the name of LiteLLM's windows. */
  entity: string;
  field: string;
}

export class BudgetReader {
  readonly #options: BudgetReaderOptions;

  constructor(options: BudgetReaderOptions) {
    this.#options = options;
  }

  /** The row of budgets that a row names. */
  sharedOf(row: LitellmRow): LitellmRow | undefined {
    return this.#options.shared.get(textIn(row, "budget_id") ?? "");
  }

  /** The budgets of one row: its own or the one that it names, and one for each window. */
  read(of: BudgetOwner): ImportedBudget[] {
    const { owner, row, entity } = of;
    const shared = this.sharedOf(row) ?? {};
    const isOwn = numberIn(row, "max_budget") !== undefined;
    const from = isOwn ? row : shared;
    const whole = this.#budget(of, {
      foreignId: `${entity}:${owner.foreignId}`,
      dollars: numberIn(from, "max_budget"),
      duration: textIn(row, "budget_duration") ?? textIn(shared, "budget_duration"),
      resetAt: timeIn(row, "budget_reset_at") ?? timeIn(shared, "budget_reset_at"),
      spent: numberIn(row, "spend"),
    });
    const raise = this.#raiseOf([shared, metadataOf(row)]);
    return [...(whole === undefined ? [] : [raise === undefined ? whole : { ...whole, raise }]), ...this.#windows(of)];
  }

  #windows(of: BudgetOwner): ImportedBudget[] {
    const { owner, row, entity } = of;
    const list = Array.isArray(row["budget_limits"]) ? row["budget_limits"] : [];
    return list.flatMap((entry: unknown) => {
      const window = objectOf(entry) ?? {};
      const duration = textIn(window, "budget_duration");
      const spending = this.#options.windows.find(
        (each) =>
          textIn(each, "entity_type") === entity &&
          textIn(each, "entity_id") === owner.foreignId &&
          textIn(each, "window_duration") === duration,
      );
      const budget = this.#budget(of, {
        foreignId: `${entity}:${owner.foreignId}:${duration ?? "total"}`,
        dollars: numberIn(window, "max_budget"),
        duration,
        resetAt: timeIn(window, "reset_at") ?? timeIn(window, "budget_reset_at"),
        spent: numberIn(spending ?? window, "spend"),
      });
      return budget ?? [];
    });
  }

  #budget(
    { owner, field }: BudgetOwner,
    read: {
      foreignId: string;
      dollars: number | undefined;
      duration: string | undefined;
      resetAt: number | undefined;
      spent: number | undefined;
    },
  ): ImportedBudget | undefined {
    const { calendar, at, findings } = this.#options;
    const { foreignId, dollars, duration, resetAt, spent } = read;
    if (dollars === undefined) return undefined;
    // There every call is refused by it.
    if (dollars < 0) findings.note(`${field}.max_budget`, "approximate", `${dollars} is a budget of 0`);
    const maxBudget = nanoOf(dollars) ?? 0n;
    const { period, start, isExact } = windowOf(duration, { resetAt, calendar });
    if (!isExact)
      findings.note(
        `${field}.budget_duration`,
        "approximate",
        `${duration} is ${period ?? "a budget without a period"}`,
      );
    // LiteLLM resets a budget that was due only when it looks at it.
    const isDue = duration !== undefined && resetAt !== undefined && resetAt <= at;
    const opening = isDue ? 0n : (nanoOf(spent) ?? 0n);
    return { foreignId, owner, maxBudget, spent: opening, period, start };
  }

  #raiseOf(rows: readonly LitellmRow[]): ImportedBudget["raise"] {
    for (const row of rows) {
      const by = nanoOf(numberIn(row, "temp_budget_increase"));
      const until = timeIn(row, "temp_budget_expiry");
      if (by !== undefined && by > 0n && until !== undefined && until > this.#options.at) return { by, until };
    }
    return undefined;
  }
}

/** Of keys, LiteLLM has a raise in the metadata. */
function metadataOf({ metadata }: LitellmRow): LitellmRow {
  return objectOf(metadata) ?? {};
}
