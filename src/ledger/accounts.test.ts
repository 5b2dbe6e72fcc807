import { describe, expect, test } from "bun:test";
import {
  accountsBefore,
  type AccountState,
  accountId,
  availableOf,
  movedAccountId,
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

test("an account's id contains its kind", () => {
  expect(accountId("organisation", "acme")).toBe("organisation:acme");
});

test("an account has followed those of its moves", () => {
  const second = movedAccountId("token:a", "token", "a");
  const third = movedAccountId(second, "token", "a");
  expect(accountsBefore("token:a")).toEqual([]);
  expect(accountsBefore(second)).toEqual(["token:a"]);
  expect(accountsBefore(third)).toEqual([second, "token:a"]);
});
