/** Making accounts, setting their limits and reading them, also through another process's connection. */
import { expect, test } from "bun:test";
import type { Account } from "../../../src/ledger/index.ts";
import {
  day,
  grant,
  held,
  hold,
  insufficient,
  noon,
  type OpenLedgerStore,
  organisation,
  settle,
  stateOf,
  token,
  user,
} from "./world.ts";

const company = organisation("company", { prepaid: true });
const alice = user("alice", { parentId: company.id });
const key = token("key", { parentId: alice.id });
const chain = [company, alice, key];

export function describeAccounts(open: OpenLedgerStore): void {
  test("an account is created once: later creations leave it unchanged", async () => {
    const { store, close, connectAgain } = await open();
    await store.createAccount(company, noon);
    const others = await connectAgain();
    await Promise.all([
      store.createAccount({ ...alice, maxBudget: 5n, period: "daily" }, noon),
      store.createAccount({ ...alice, maxBudget: 5n, period: "daily" }, noon),
      others.createAccount({ ...alice, maxBudget: 5n, period: "daily" }, noon),
    ]);
    await store.commit([grant("g", alice.id, 7n)]);
    await others.createAccount(user("alice", { prepaid: true }), noon);
    expect(await stateOf(store, alice.id)).toMatchObject({
      ...alice,
      maxBudget: 5n,
      period: "daily",
      creditsPosted: 7n,
    });
    await close();
  });

  test("an account needs its parent", async () => {
    const { store, close } = await open();
    expect(async () => store.createAccount(alice, noon)).toThrow(/foreign key/i);
    expect(await store.listAccounts(noon)).toEqual([]);
    await close();
  });

  test("all are listed by their ids, with their counters as of the moment that is asked for", async () => {
    const { store, close } = await open();
    for (const account of chain) await store.createAccount(account, noon);
    await store.putAccount({ ...alice, maxBudget: 90n, period: "daily" }, noon);
    await store.commit([grant("g", company.id, 100n), hold("a", key.id, 30n), settle("a", 20n), hold("b", key.id, 5n)]);
    const counters = { debitsPosted: 20n, debitsPending: 5n };
    const listed = await store.listAccounts(noon);
    expect(listed).toMatchObject([
      { id: company.id, creditsPosted: 100n, ...counters },
      { id: key.id, ...counters },
      { id: alice.id, periodDebits: 20n, ...counters },
    ]);
    for (const state of listed) expect(await stateOf(store, state.id)).toEqual(state);
    expect(await store.listAccounts(noon + day)).toMatchObject([{}, {}, { id: alice.id, periodDebits: 0n }]);
    await close();
  });

  test.each([company, alice, key])(
    "a limit that another process sets on $id holds from the next commit",
    async (level) => {
      const { store, close, connectAgain } = await open();
      for (const account of chain) await store.createAccount(account, noon);
      await store.commit([grant("g", company.id, 100n), hold("a", key.id, 10n), settle("a", 10n)]);
      const others = await connectAgain();
      await others.putAccount({ ...level, maxBudget: 15n }, noon);
      expect(await store.commit([hold("b", key.id, 6n)])).toEqual([insufficient(level.id, 5n)]);
      await others.putAccount(level, noon);
      expect(await store.commit([hold("b", key.id, 6n)])).toMatchObject([held]);
      await close();
    },
  );

  /** The spending of the morning, and how much of it counts after the period was changed at noon. */
  test.each<[Account["period"], Account["period"], bigint]>([
    [undefined, "daily", 0n],
    ["daily", undefined, 40n],
    ["daily", "monthly", 40n],
    ["monthly", "daily", 0n],
  ])("a period that is changed from %p to %p", async (before, after, counted) => {
    const { store, close } = await open();
    const morning = noon - day / 4;
    await store.createAccount(token("t", { maxBudget: 100n, period: before }), morning);
    await store.commit([hold("a", "token:t", 40n, { at: morning }), settle("a", 40n, morning)]);
    await store.putAccount(token("t", { maxBudget: 100n, period: after }), noon);
    expect(await stateOf(store, "token:t", noon)).toMatchObject({ periodDebits: counted });
    expect(await store.commit([hold("b", "token:t", 101n - counted)])).toEqual([
      insufficient("token:t", 100n - counted),
    ]);
    await close();
  });
}
