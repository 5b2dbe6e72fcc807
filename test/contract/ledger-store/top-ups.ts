/** Raising a hold: available credits in each account for the difference, all accounts or none, idempotence. */
import { expect, test } from "bun:test";
import {
  conflict,
  day,
  ended,
  exists,
  grant,
  granted,
  held,
  hold,
  insufficient,
  type LedgerCase,
  minute,
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
const leased = { leaseUntil: noon + minute };

/** Alice's token under a balance of 100 and an open hold of 60. */
function withHold(title: string, steps: LedgerCase["steps"], after: Pick<LedgerCase, "after" | "open">): LedgerCase {
  const opening: LedgerCase["steps"] = [
    [grant("g", alice.id, 100n), granted],
    [hold("h", key.id, 60n, leased), held],
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

/** A chain of three in which one link has room for 50 and the others for 100. */
function narrow(link: "token" | "user" | "organisation"): LedgerCase {
  const room = (kind: string): bigint => (kind === link ? 50n : 100n);
  const accounts = [
    organisation("company", { maxBudget: room("organisation") }),
    user("employee", { prepaid: true, parentId: "organisation:company" }),
    token("badge", { parentId: "user:employee", maxBudget: room("token") }),
  ];
  const narrowest = accounts.find(({ kind }) => kind === link)?.id ?? "";
  return {
    title: `a chain of three whose ${link} lacks room is raised in none`,
    accounts,
    steps: [
      [grant("g", "user:employee", room("user")), granted],
      [hold("h", "token:badge", 20n), held],
      [topUp("h", 51n), insufficient(narrowest, 30n)],
      [topUp("h", 50n), raised],
    ],
    after: {
      "token:badge": { pending: 50n },
      "user:employee": { credits: room("user"), pending: 50n },
      "organisation:company": { pending: 50n },
    },
    open: ["h"],
  };
}

const evening = noon + 11 * 60 * minute;
const morning = noon + 13 * 60 * minute;

const cases: LedgerCase[] = [
  withHold("a hold is raised to the new total", [[topUp("h", 75n), raised]], pending(75n)),
  withHold("up to the last of the balance", [[topUp("h", 100n), raised]], pending(100n)),
  withHold(
    "without room it stays as it is",
    [
      [topUp("h", 101n), insufficient(alice.id, 40n)],
      [topUp("h", 90n), raised],
    ],
    pending(90n),
  ),
  withHold(
    "what other holds took is not there",
    [
      [hold("other", key.id, 30n), held],
      [topUp("h", 71n), insufficient(alice.id, 10n)],
      [release("other"), released],
      [topUp("h", 71n), raised],
    ],
    pending(71n),
  ),
  withHold(
    "twice: raised once",
    [
      [topUp("h", 80n), raised],
      [topUp("h", 80n), exists],
    ],
    pending(80n),
  ),
  withHold(
    "to less than it is: it stays",
    [
      [topUp("h", 60n), exists],
      [topUp("h", 10n), exists],
    ],
    pending(60n),
  ),
  withHold(
    "step by step",
    [
      [topUp("h", 70n), raised],
      [topUp("h", 95n), raised],
      [topUp("h", 101n), insufficient(alice.id, 5n)],
    ],
    pending(95n),
  ),
  withHold(
    "a raised hold is charged up to its new amount, whatever room is left, and the rest returns",
    [
      [topUp("h", 100n), raised],
      [hold("other", key.id, 1n), insufficient(alice.id, 0n)],
      [settle("h", 95n), settled()],
    ],
    charged(95n),
  ),
  withHold(
    "a raised hold that is released returns all",
    [
      [topUp("h", 100n), raised],
      [release("h"), released],
    ],
    charged(0n),
  ),
  withHold(
    "a raised hold expires at what was observed",
    [
      [topUp("h", 100n), raised],
      [renew("h", noon + minute, 85n), renewed],
      [sweep(noon + 2 * minute), swept(1)],
    ],
    charged(85n),
  ),
  withHold(
    "a top-up renews no lease",
    [
      [topUp("h", 70n, noon + minute), raised],
      [sweep(noon + 2 * minute), swept(1)],
      [topUp("h", 80n, noon + 2 * minute), ended],
    ],
    charged(0n),
  ),
  withHold(
    "a raised hold is known by its new amount",
    [
      [topUp("h", 80n), raised],
      [hold("h", key.id, 80n), exists],
      [hold("h", key.id, 60n), conflict],
      [settle("h", 1n), settled()],
      [hold("h", key.id, 80n), exists],
    ],
    charged(1n),
  ),
  withHold(
    "after the end there is nothing to raise",
    [
      [settle("h", 20n), settled()],
      [topUp("h", 80n), ended],
      [topUp("h", 10n), ended],
    ],
    charged(20n),
  ),
  withHold(
    "after a release there is nothing to raise",
    [
      [release("h"), released],
      [topUp("h", 80n), ended],
    ],
    charged(0n),
  ),
  withHold("without a hold there is nothing to raise", [[topUp("x", 1n), ended]], pending(60n)),
  {
    title: "a chain without limits has room for anything",
    accounts: [token("service")],
    steps: [
      [hold("h", "token:service", 1n), held],
      [topUp("h", 10n ** 15n), raised],
    ],
    after: { "token:service": { pending: 10n ** 15n } },
    open: ["h"],
  },
  {
    title: "a hold of yesterday is raised within today's budget",
    accounts: [token("t", { maxBudget: 100n, period: "daily" })],
    steps: [
      [hold("a", "token:t", 60n, { at: evening }), held],
      [settle("a", 60n, evening), settled()],
      [hold("b", "token:t", 40n, { at: evening }), held],
      [topUp("b", 41n, evening), insufficient("token:t", 0n)],
      [topUp("b", 101n, morning), insufficient("token:t", 60n)],
      [topUp("b", 100n, morning), raised],
    ],
    after: { "token:t": { debits: 60n, pending: 100n, period: 0n } },
    at: morning,
    open: ["b"],
  },
  narrow("token"),
  narrow("user"),
  narrow("organisation"),
];

export function describeTopUps(open: OpenLedgerStore): void {
  testCases(open, cases);

  test("an open hold and its entry show the new amount", async () => {
    const { store, query, close } = await open();
    await store.putAccount(token("free"), noon);
    await store.commit([hold("h", "token:free", 10n), topUp("h", 25n)]);
    expect(await store.openHolds()).toMatchObject([{ id: "h", amount: 25n, leaseUntil: noon + 100 * day }]);
    await store.commit([settle("h", 20n)]);
    const [entry] = await query("SELECT amount, held, shortfall FROM entries WHERE id = 'h'");
    expect(entry).toEqual({ amount: 20n, held: 25n, shortfall: 0n });
    await close();
  });

  test("a budget that was lowered since leaves no room to raise", async () => {
    const { store, close } = await open();
    const limitedToken = token("limited", { maxBudget: 100n });
    await store.putAccount(limitedToken, noon);
    await store.commit([hold("h", limitedToken.id, 60n)]);
    await store.putAccount({ ...limitedToken, maxBudget: 40n }, noon);
    expect(await store.commit([topUp("h", 61n), topUp("h", 60n)])).toEqual([
      insufficient(limitedToken.id, -20n),
      exists,
    ]);
    await close();
  });

  test("of raises that several connections ask for, as many succeed as there is room for", async () => {
    const { store, connectAgain, close } = await open();
    const bob = user("bob", { prepaid: true });
    await store.putAccount(bob, noon);
    await store.commit([grant("g", bob.id, 100n)]);
    const ids = Array.from({ length: 20 }, (_, index) => `h${index}`);
    await store.commit(ids.map((id) => hold(id, bob.id, 1n)));
    const stores = [store, await connectAgain(), await connectAgain()];
    // 80 are free: room for 8 raises by 10.
    const asked = ids.map(async (id, index) => (stores[index % stores.length] ?? store).commit([topUp(id, 11n)]));
    const outcomes = (await Promise.all(asked)).flat().map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === "raised")).toHaveLength(8);
    expect(outcomes.filter((outcome) => outcome === "insufficient")).toHaveLength(12);
    expect(await store.chain(bob.id, noon)).toMatchObject([{ debitsPending: 100n }]);
    expect((await store.audit()).drifts).toEqual([]);
    await close();
  });
}
