import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Calendar } from "../core/index.ts";
import {
  type AccountState,
  accountId,
  type BudgetPeriod,
  periodEnd,
  periodStart,
  availableOf,
  tightestAccount,
} from "./accounts.ts";

function state(limits: Partial<AccountState>): AccountState {
  return {
    id: "user:u",
    kind: "user",
    name: "u",
    parentId: undefined,
    prepaid: false,
    maxBudget: undefined,
    period: undefined,
    creditsPosted: 0n,
    debitsPosted: 0n,
    debitsPending: 0n,
    periodDebits: 0n,
    ...limits,
  };
}

const used = { creditsPosted: 100n, debitsPosted: 30n, debitsPending: 20n, periodDebits: 10n };

const rooms: [string, Partial<AccountState>, bigint | undefined][] = [
  ["nothing limits it", used, undefined],
  ["prepaid: granted less charged less held", { ...used, prepaid: true }, 50n],
  ["a budget: less the period's charges less held", { ...used, maxBudget: 60n }, 30n],
  ["both, the budget smaller", { ...used, prepaid: true, maxBudget: 60n }, 30n],
  ["both, the balance smaller", { ...used, prepaid: true, maxBudget: 200n }, 50n],
  ["a budget below what is used", { ...used, maxBudget: 5n }, -25n],
  ["a budget of nothing", { maxBudget: 0n }, 0n],
];

test.each(rooms)("the available credits of an account: %s", (_title, limits, room) => {
  expect(availableOf(state(limits))).toBe(room);
});

describe("the tightest account", () => {
  const wide = state({ id: "wide", maxBudget: 100n });
  const narrow = state({ id: "narrow", maxBudget: 10n });
  const free = state({ id: "free" });

  test("is the one with the least available credits, at any position", () => {
    expect(tightestAccount([wide, narrow, free])?.id).toBe("narrow");
    expect(tightestAccount([free, narrow, wide])?.id).toBe("narrow");
  });

  test("is the one nearest to the token among equals", () => {
    expect(tightestAccount([free, wide, state({ id: "as wide", maxBudget: 100n })])?.id).toBe("wide");
  });

  test("is undefined in a chain without limits", () => {
    expect(tightestAccount([free, state({ id: "also free" })])).toBeUndefined();
    expect(tightestAccount([])).toBeUndefined();
  });
});

const periods: [BudgetPeriod | undefined, string, string | undefined, string | undefined][] = [
  ["daily", "2026-03-04T00:00:00.000Z", "2026-03-04T00:00:00.000Z", "2026-03-05T00:00:00.000Z"],
  ["daily", "2026-03-04T23:59:59.999Z", "2026-03-04T00:00:00.000Z", "2026-03-05T00:00:00.000Z"],
  ["daily", "2026-12-31T12:00:00.000Z", "2026-12-31T00:00:00.000Z", "2027-01-01T00:00:00.000Z"],
  ["daily", "2028-02-28T12:00:00.000Z", "2028-02-28T00:00:00.000Z", "2028-02-29T00:00:00.000Z"],
  ["monthly", "2026-03-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z", "2026-04-01T00:00:00.000Z"],
  ["monthly", "2026-01-31T23:59:59.999Z", "2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"],
  ["monthly", "2028-02-29T12:00:00.000Z", "2028-02-01T00:00:00.000Z", "2028-03-01T00:00:00.000Z"],
  ["monthly", "2026-12-31T12:00:00.000Z", "2026-12-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"],
];

const utc = new Calendar("UTC");

test.each(periods)("a %s budget at %s runs from %s to %s", (period, at, start, end) => {
  const moment = Date.parse(at);
  expect(new Date(periodStart(period, moment, utc)).toISOString()).toBe(start ?? "");
  expect(new Date(periodEnd(period, moment, utc) ?? 0).toISOString()).toBe(end ?? "");
});

test("a budget without a period began with time and never ends", () => {
  expect(periodStart(undefined, 1_700_000_000_000, utc)).toBe(0);
  expect(periodEnd(undefined, 1_700_000_000_000, utc)).toBeUndefined();
});

test("every time lies in exactly one period, and the next begins at its end", () => {
  const moment = fc.integer({ min: 0, max: Date.UTC(2100, 0) });
  const property = fc.property(fc.constantFrom("daily", "monthly"), moment, (period: BudgetPeriod, at) => {
    const start = periodStart(period, at, utc);
    const end = periodEnd(period, at, utc) ?? 0;
    expect(start).toBeLessThanOrEqual(at);
    expect(end).toBeGreaterThan(at);
    expect(periodStart(period, end, utc)).toBe(end);
    expect(periodStart(period, end - 1, utc)).toBe(start);
  });
  fc.assert(property);
});

test("an account's id contains its kind", () => {
  expect(accountId("organisation", "acme")).toBe("organisation:acme");
});
