import { describe, expect, test } from "bun:test";
import type { AccountState } from "../ledger/index.ts";
import { Calendar } from "../core/index.ts";
import { budgetInfo } from "./budget-info.ts";

const at = Date.UTC(2026, 1, 28, 12);
const utc = new Calendar("UTC");
const used = { creditsPosted: 100n, debitsPosted: 30n, debitsPending: 20n, periodDebits: 10n };

function state(kind: AccountState["kind"], limits: Partial<AccountState>): AccountState {
  const none = { parentId: undefined, prepaid: false, maxBudget: undefined, period: undefined };
  return { id: `${kind}:x`, kind, name: "x", ...none, ...used, ...limits };
}

const levels: [string, Partial<AccountState>, object][] = [
  [
    "prepaid credits: what was granted is the budget, what was ever charged the spend",
    { prepaid: true },
    { balance: 70n, maxBudget: 100n, spend: 30n, held: 20n, available: 50n, period: undefined, periodReset: undefined },
  ],
  [
    "a daily budget: the day's spend, until midnight",
    { maxBudget: 60n, period: "daily" },
    {
      balance: undefined,
      maxBudget: 60n,
      spend: 10n,
      held: 20n,
      available: 30n,
      period: "daily",
      periodReset: Date.UTC(2026, 2, 1),
    },
  ],
  [
    "a monthly budget: until the first",
    { maxBudget: 60n, period: "monthly" },
    { maxBudget: 60n, spend: 10n, available: 30n, period: "monthly", periodReset: Date.UTC(2026, 2, 1) },
  ],
  ["a budget for good", { maxBudget: 60n }, { maxBudget: 60n, spend: 10n, available: 30n, periodReset: undefined }],
  [
    "a budget on top of credits",
    { prepaid: true, maxBudget: 60n },
    { balance: 70n, maxBudget: 60n, spend: 10n, available: 30n },
  ],
  [
    "a period without a budget starts nothing anew",
    { prepaid: true, period: "daily" },
    { balance: 70n, maxBudget: 100n, spend: 30n, period: undefined, periodReset: undefined },
  ],
  [
    "no limit: what was spent all the same",
    {},
    { balance: undefined, maxBudget: undefined, spend: 30n, held: 20n, available: undefined },
  ],
];

test.each(levels)("%s", (_title, limits, level) => {
  expect(budgetInfo([state("user", limits)], at, utc).levels).toMatchObject([{ kind: "user", name: "x", ...level }]);
});

describe("a chain", () => {
  const token = state("token", { maxBudget: 60n, period: "daily" });
  const user = state("user", { prepaid: true });
  const organisation = state("organisation", { maxBudget: 25n });

  test("is reported level by level, from the token upwards", () => {
    expect(budgetInfo([token, user, organisation], at, utc).levels.map(({ kind }) => kind)).toEqual([
      "token",
      "user",
      "organisation",
    ]);
  });

  test("is limited by its tightest level", () => {
    expect(budgetInfo([token, user, organisation], at, utc).effective).toMatchObject({
      kind: "organisation",
      available: -5n,
    });
    expect(budgetInfo([token, user], at, utc).effective).toMatchObject({ kind: "token", available: 30n });
  });

  test("without limits has no budget in effect", () => {
    expect(budgetInfo([state("token", {})], at, utc).effective).toBeUndefined();
    expect(budgetInfo([], at, utc)).toEqual({ effective: undefined, levels: [] });
  });
});
