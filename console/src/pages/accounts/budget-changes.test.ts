import { expect, test } from "bun:test";
import { budgetChanges, budgetTexts } from "./budget-changes.ts";
import type { Budget } from "./types.ts";

const budget: Budget = {
  id: "bud_1",
  organisation: null,
  user: "ada",
  project: null,
  token: null,
  models: "fast",
  max_budget: 5,
  period: "monthly",
  start: null,
  raise: { by: 2.5, until: "2026-12-24T18:00:00.000Z" },
  spend: 0,
  period_reset_at: null,
};

const reading = (fields: Record<string, string>) => (name: string) => fields[name] ?? "";

test("only members of a budget that differ are sent, a raise as a whole", () => {
  const shown = budgetTexts(budget);
  expect(shown).toMatchObject({ max_budget: "5", raise_by: "2.5", raise_until: "2026-12-24T18:00" });
  expect(budgetChanges(reading(shown), budget)).toEqual({});
  const changed = { ...shown, period: "", models: "", start: "15", raise_by: "3" };
  const raise = { by: 3, until: "2026-12-24T18:00:00Z" };
  expect(budgetChanges(reading(changed), budget)).toEqual({ period: null, models: null, start: 15, raise });
  expect(budgetChanges(reading({ ...shown, raise_by: "", raise_until: "" }), budget)).toEqual({ raise: null });
});

test("a new budget has its amount and its period, and whatever else is filled in", () => {
  expect(budgetChanges(reading({ max_budget: "0.5", period: "" }))).toEqual({ max_budget: 0.5, period: null });
  const fields = { max_budget: "1", period: "weekly", start: "7", models: "fast" };
  expect(budgetChanges(reading(fields))).toEqual({ max_budget: 1, period: "weekly", start: 7, models: "fast" });
});
