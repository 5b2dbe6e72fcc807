/** Budgets that restart at midnight UTC: of each day, of each month's first day, or never. */
import { expect, test } from "bun:test";
import type { Account } from "../../../src/ledger/index.ts";
import {
  budgetRows,
  day,
  held,
  hold,
  insufficient,
  type LedgerCase,
  minute,
  type OpenLedgerStore,
  renew,
  renewed,
  settle,
  settled,
  stateOf,
  sweep,
  swept,
  testCases,
  token,
} from "./world.ts";

const at = (text: string): number => Date.parse(text);
const budget = (period: Account["period"]): Account => token("t", { maxBudget: 100n, period });
const id = "token:t";

/** A budget of 100 that is used up at one moment and asked for more at another. */
function rollOver(period: Account["period"], spent: string, asked: string, anew: boolean): LedgerCase {
  return {
    title: `${period ?? "no period"}: spent ${spent}, ${anew ? "free again" : "still spent"} ${asked}`,
    accounts: [budget(period)],
    steps: [
      [hold("a", id, 100n, { at: at(spent) }), held],
      [settle("a", 100n, at(spent)), settled()],
      [hold("b", id, 100n, { at: at(asked) }), anew ? held : insufficient(id, 0n)],
    ],
    after: { [id]: { debits: 100n, pending: anew ? 100n : 0n, period: anew ? 0n : 100n } },
    at: at(asked),
    open: anew ? ["b"] : [],
  };
}

const rollOvers: LedgerCase[] = [
  rollOver("daily", "2026-03-04T00:00:00.000Z", "2026-03-04T23:59:59.999Z", false),
  rollOver("daily", "2026-03-04T23:59:59.999Z", "2026-03-05T00:00:00.000Z", true),
  rollOver("daily", "2026-03-31T12:00:00Z", "2026-04-01T00:00:00Z", true),
  rollOver("daily", "2028-02-28T23:00:00Z", "2028-02-29T00:00:00Z", true),
  rollOver("daily", "2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00Z", true),
  rollOver("daily", "2026-03-04T12:00:00Z", "2026-05-04T12:00:00Z", true),
  rollOver("monthly", "2026-03-01T00:00:00Z", "2026-03-31T23:59:59.999Z", false),
  rollOver("monthly", "2026-01-31T23:59:59.999Z", "2026-02-01T00:00:00Z", true),
  rollOver("monthly", "2026-02-28T23:59:59.999Z", "2026-03-01T00:00:00Z", true),
  rollOver("monthly", "2028-02-28T12:00:00Z", "2028-02-29T23:59:59.999Z", false),
  rollOver("monthly", "2028-02-29T23:59:59.999Z", "2028-03-01T00:00:00Z", true),
  rollOver("monthly", "2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00Z", true),
  rollOver("monthly", "2026-03-15T12:00:00Z", "2027-03-15T12:00:00Z", true),
  rollOver(undefined, "2026-03-04T12:00:00Z", "2029-03-04T12:00:00Z", false),
];

const evening = at("2026-03-04T23:59:00Z");
const morning = evening + 2 * minute;
const yesterday = evening;

const acrossMidnight: LedgerCase[] = [
  {
    title: "a hold of yesterday still counts against today's budget",
    accounts: [budget("daily")],
    steps: [
      [hold("a", id, 60n, { at: evening }), held],
      [hold("b", id, 41n, { at: morning }), insufficient(id, 40n)],
      [hold("b", id, 40n, { at: morning }), held],
    ],
    after: { [id]: { pending: 100n, period: 0n } },
    at: morning,
    open: ["a", "b"],
  },
  {
    title: "a charge counts in the period in which it is settled",
    accounts: [budget("daily")],
    steps: [
      [hold("a", id, 60n, { at: evening }), held],
      [settle("a", 50n, morning), settled()],
      [hold("b", id, 51n, { at: morning }), insufficient(id, 50n)],
    ],
    after: { [id]: { debits: 50n, period: 50n } },
    at: morning,
  },
  {
    title: "what goes over a hold is measured by the budget of the day on which it is settled",
    accounts: [budget("daily")],
    steps: [
      [hold("a", id, 90n, { at: evening }), held],
      [settle("a", 90n, evening), settled()],
      [hold("b", id, 10n, { at: evening }), held],
      [settle("b", 105n, morning), settled(5n)],
    ],
    after: { [id]: { debits: 190n, period: 100n } },
    at: morning,
    shortfall: 5n,
  },
  {
    title: "a clock that goes back brings yesterday's budget neither back nor anew",
    accounts: [budget("daily")],
    steps: [
      [hold("a", id, 90n, { at: yesterday }), held],
      [settle("a", 90n, yesterday), settled()],
      [hold("b", id, 70n, { at: morning }), held],
      [settle("b", 70n, morning), settled()],
      [hold("c", id, 31n, { at: yesterday }), insufficient(id, 30n)],
      [hold("d", id, 10n, { at: yesterday }), held],
      [settle("d", 10n, yesterday), settled()],
      [hold("e", id, 21n, { at: morning }), insufficient(id, 20n)],
    ],
    after: { [id]: { debits: 170n, period: 80n } },
    at: morning,
  },
  {
    title: "what a late end gives back of an earlier day does not widen today's budget",
    accounts: [budget("daily")],
    steps: [
      [hold("a", id, 60n, { at: evening, leaseUntil: evening }), held],
      [renew("a", evening, 60n), renewed],
      [sweep(evening + 1), swept(1)],
      [hold("b", id, 20n, { at: morning }), held],
      [settle("b", 20n, morning), settled()],
      [settle("a", 30n, morning), settled()],
      [hold("c", id, 81n, { at: morning }), insufficient(id, 80n)],
    ],
    after: { [id]: { debits: 50n, period: 20n } },
    at: morning,
  },
  {
    title: "what a late end gives back of the same day is free again",
    accounts: [budget("daily")],
    steps: [
      [hold("a", id, 60n, { at: morning, leaseUntil: morning }), held],
      [renew("a", morning, 60n), renewed],
      [sweep(morning + 1), swept(1)],
      [settle("a", 25n, morning + minute), settled()],
    ],
    after: { [id]: { debits: 25n, period: 25n } },
    at: morning + minute,
  },
  {
    title: "each link has its own period",
    accounts: [
      token("parent", { maxBudget: 150n, period: "monthly" }),
      token("t", { maxBudget: 100n, period: "daily", parentId: "token:parent" }),
    ],
    steps: [
      [hold("a", id, 100n, { at: evening }), held],
      [settle("a", 100n, evening), settled()],
      [hold("b", id, 51n, { at: morning }), insufficient("token:parent", 50n)],
      [hold("b", id, 50n, { at: morning }), held],
    ],
    after: {
      [id]: { debits: 100n, pending: 50n, period: 0n },
      "token:parent": { debits: 100n, pending: 50n, period: 100n },
    },
    at: morning,
    open: ["b"],
  },
];

const periodCases: readonly LedgerCase[] = [...rollOvers, ...acrossMidnight];

export function describePeriods(open: OpenLedgerStore): void {
  testCases(open, periodCases);

  test("the spend of a period is reported as of the moment that is asked for", async () => {
    const { store, close } = await open();
    await store.putAccount(budget("monthly"), evening);
    await store.commit([hold("a", id, 40n, { at: evening }), settle("a", 40n, evening)]);
    const spends = [evening, evening + day, evening + 40 * day].map(
      async (when) => (await stateOf(store, id, when)).periodDebits,
    );
    expect(await Promise.all(spends)).toEqual([40n, 40n, 0n]);
    await close();
  });

  test("a budget that was put again after its raise is no more raised for a clock that is behind", async () => {
    const { store, query, close } = await open();
    await store.putAccount(token("t"), evening);
    for (const statement of budgetRows({ id: "b", accountId: id }, undefined)) await query(statement);
    const limited = { ...token("b", { maxBudget: 10n }), id: "budget:b", kind: "budget" } as const;
    await store.putAccount({ ...limited, raisedBy: 5n, raisedUntil: evening }, evening);
    await store.putAccount(await stateOf(store, limited.id, evening), evening);
    const before = evening - minute;
    expect(await store.commit([hold("a", id, 11n, { at: before })])).toEqual([insufficient(limited.id, 10n)]);
    expect(await store.commit([hold("a", id, 10n, { at: before })])).toEqual([held]);
    await close();
  });
}
