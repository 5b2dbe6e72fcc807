/** Moving a hold to another model: its new amount in every account, more or less, and its names in the records of the dead. */
import { expect, test } from "bun:test";
import {
  budgetRows,
  ended,
  exists,
  grant,
  granted,
  held,
  hold,
  insufficient,
  type LedgerCase,
  minute,
  move,
  moved,
  noon,
  type OpenLedgerStore,
  organisation,
  raised,
  release,
  released,
  renew,
  renewed,
  settle,
  settled,
  sweep,
  swept,
  testCases,
  token,
  topUp,
  user,
} from "./world.ts";

const alice = user("alice", { prepaid: true });
const key = token("key", { parentId: alice.id });

/** Alice's token under a balance of 100 and an open hold of 60. */
function withHold(title: string, steps: LedgerCase["steps"], after: Pick<LedgerCase, "after" | "open">): LedgerCase {
  const opening: LedgerCase["steps"] = [
    [grant("g", alice.id, 100n), granted],
    [hold("h", key.id, 60n, { leaseUntil: noon + minute }), held],
  ];
  return { title, accounts: [alice, key], steps: [...opening, ...steps], ...after };
}

const pending = (amount: bigint): Pick<LedgerCase, "after" | "open"> => ({
  after: { [alice.id]: { credits: 100n, pending: amount }, [key.id]: { pending: amount } },
  open: ["h"],
});
const charged = (amount: bigint): Pick<LedgerCase, "after"> => ({
  after: { [alice.id]: { credits: 100n, debits: amount }, [key.id]: { debits: amount } },
});

const cases: LedgerCase[] = [
  withHold("to more", [[move("h", 75n), moved]], pending(75n)),
  withHold("to less", [[move("h", 5n), moved]], pending(5n)),
  withHold("to nothing", [[move("h", 0n), moved]], pending(0n)),
  withHold("to as much", [[move("h", 60n), moved]], pending(60n)),
  withHold("up to the last of the balance", [[move("h", 100n), moved]], pending(100n)),
  withHold("without room it stays as it is", [[move("h", 101n), insufficient(alice.id, 40n)]], pending(60n)),
  withHold(
    "twice: once",
    [
      [move("h", 80n), moved],
      [move("h", 80n), moved],
    ],
    pending(80n),
  ),
  withHold(
    "what it leaves is there for others",
    [
      [hold("other", key.id, 60n), insufficient(alice.id, 40n)],
      [move("h", 40n), moved],
      [hold("other", key.id, 60n), held],
      [move("h", 41n), insufficient(alice.id, 0n)],
      [release("other"), released],
      [topUp("h", 40n), exists],
      [topUp("h", 41n), raised],
    ],
    pending(41n),
  ),
  withHold(
    "it is charged up to its new amount, and the rest returns",
    [
      [move("h", 100n), moved],
      [settle("h", 95n), settled()],
      [move("h", 1n), ended],
    ],
    charged(95n),
  ),
  withHold(
    "it expires at what was observed",
    [
      [move("h", 100n), moved],
      [renew("h", noon + minute, 85n), renewed],
      [sweep(noon + 2 * minute), swept(1)],
      [move("h", 1n, noon + 2 * minute), ended],
    ],
    charged(85n),
  ),
  withHold(
    "it is released whole",
    [
      [move("h", 10n), moved],
      [release("h"), released],
    ],
    charged(0n),
  ),
  withHold("without a hold there is nothing to move", [[move("x", 1n), ended]], pending(60n)),
  {
    title: "the narrowest of a chain refuses more, and none changes",
    accounts: [
      organisation("company", { maxBudget: 100n }),
      user("employee", { prepaid: true, parentId: "organisation:company" }),
      token("badge", { parentId: "user:employee", maxBudget: 50n }),
    ],
    steps: [
      [grant("g", "user:employee", 100n), granted],
      [hold("h", "token:badge", 20n), held],
      [move("h", 51n), insufficient("token:badge", 30n)],
      [move("h", 50n), moved],
    ],
    after: {
      "token:badge": { pending: 50n },
      "user:employee": { credits: 100n, pending: 50n },
      "organisation:company": { pending: 50n },
    },
    open: ["h"],
  },
];

export function describeMoves(open: OpenLedgerStore): void {
  testCases(open, cases);

  test("an open hold names where it was moved to, and so does the record of its expiry", async () => {
    const { store, query, close } = await open();
    await store.putAccount(token("free"), noon);
    await store.commit([hold("h", "token:free", 10n, { leaseUntil: noon }), move("h", 25n)]);
    expect(await store.openHolds()).toMatchObject([{ id: "h", amount: 25n, description: "chat anthropic/other" }]);
    await store.commit([sweep(noon + minute)]);
    const [row] = await query("SELECT provider, model, operation FROM generations WHERE id = 'h'");
    expect(row).toEqual({ provider: "anthropic", model: "other", operation: "chat" });
    await close();
  });

  test("a budget that was lowered since lets a hold be moved to less, and not to more", async () => {
    const { store, close } = await open();
    const limitedToken = token("limited", { maxBudget: 100n });
    await store.putAccount(limitedToken, noon);
    await store.commit([hold("h", limitedToken.id, 60n)]);
    await store.putAccount({ ...limitedToken, maxBudget: 40n }, noon);
    expect(await store.commit([move("h", 61n), move("h", 59n)])).toEqual([insufficient(limitedToken.id, -20n), moved]);
    expect(await store.chain(limitedToken.id, noon)).toMatchObject([{ debitsPending: 59n }]);
    await close();
  });

  test("what is left of a budget that only the new model counts in is beyond what the hold has already", async () => {
    const { store, query, close } = await open();
    await store.putAccount(token("free"), noon);
    await store.commit([hold("h", "token:free", 60n)]);
    const budget = { ...token("b", { maxBudget: 50n }), id: "budget:b", kind: "budget" } as const;
    await store.putAccount(budget, noon);
    for (const row of budgetRows({ id: "b", accountId: "token:free" }, ["anthropic/*"])) await query(row);
    await store.putAccount(token("free"), noon);
    expect(await store.commit([move("h", 60n)])).toEqual([insufficient(budget.id, -10n)]);
    expect(await store.commit([move("h", 50n)])).toEqual([moved]);
    expect(await store.chain(budget.id, noon)).toMatchObject([{ debitsPending: 50n }]);
    await close();
  });

  test("of 200 holds of nothing that several connections move to 1, on a budget for 10, 10 are moved", async () => {
    const { store, connectAgain, close } = await open();
    const bob = user("bob", { prepaid: true });
    await store.putAccount(bob, noon);
    await store.commit([grant("g", bob.id, 10n)]);
    const ids = Array.from({ length: 200 }, (_, index) => `h${index}`);
    await store.commit(ids.map((id) => hold(id, bob.id, 0n)));
    const stores = [store, await connectAgain(), await connectAgain()];
    const asked = ids.map(async (id, index) => (stores[index % stores.length] ?? store).commit([move(id, 1n)]));
    const outcomes = (await Promise.all(asked)).flat().map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === "moved")).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === "insufficient")).toHaveLength(190);
    expect(await store.chain(bob.id, noon)).toMatchObject([{ debitsPending: 10n }]);
    expect((await store.audit()).drifts).toEqual([]);
    await close();
  });
}
