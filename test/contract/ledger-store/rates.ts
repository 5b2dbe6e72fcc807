/** An account's limits per minute and of simultaneous calls, and the correction of counts by a call's end. */
import { expect, test } from "bun:test";
import type { RateLimits } from "../../../src/core/index.ts";
import type { RateState } from "../../../src/ledger/index.ts";
import {
  exists,
  grant,
  granted,
  held,
  heldAt,
  hold,
  insufficient,
  type LedgerCase,
  limited,
  minute,
  noon,
  type OpenLedgerStore,
  raised,
  release,
  released,
  renew,
  renewed,
  settle,
  settled,
  settledBefore,
  sweep,
  swept,
  testCases,
  token,
  topUp,
  user,
} from "./world.ts";

const key = token("key");
const second = 1_000;

/** The counts of a minute that began at noon, or at `from`. */
const seen = (requests: number, tokens: number, calls: number, from = noon): RateState => ({
  requests,
  tokens,
  calls,
  minuteEndsAt: from + minute,
});

/** A hold of one nano-credit. */
const call = (id: string, rates?: RateLimits, tokens?: number, at = noon, accountId = key.id) =>
  hold(id, accountId, 1n, { at, ...(rates && { rates }), ...(tokens !== undefined && { tokens }) });

type Case = Pick<LedgerCase, "title" | "steps" | "open"> & { debits?: bigint };

const rateCase = ({ title, steps, open = [], debits = 0n }: Case): LedgerCase => ({
  title,
  accounts: [key],
  steps,
  after: { [key.id]: { debits, pending: BigInt(open.length) } },
  open,
});

const two = { requestsPerMinute: 2 };
const ten = { tokensPerMinute: 10 };
/** Limits that are never reached here, to expose the counts. */
const wide = { requestsPerMinute: 1_000 };

const requests: Case[] = [
  {
    title: "calls in the minute: as many as the limit, and no more",
    steps: [
      [call("a", two), heldAt(seen(1, 0, 1))],
      [call("b", two), heldAt(seen(2, 0, 2))],
      [call("c", two), limited("requestsPerMinute", seen(2, 0, 2))],
      [call("d", two), limited("requestsPerMinute", seen(2, 0, 2))],
    ],
    open: ["a", "b"],
  },
  {
    title: "a call that has ended stays counted in its minute, however it ended",
    steps: [
      [call("a", two), heldAt(seen(1, 0, 1))],
      [settle("a", 0n), settled()],
      [call("b", two), heldAt(seen(2, 0, 1))],
      [release("b"), released],
      [call("c", two), limited("requestsPerMinute", seen(2, 0, 0))],
    ],
  },
  {
    title: "a minute lasts 60 seconds from its first call",
    steps: [
      [call("a", two, 0, noon + 40 * second), heldAt(seen(1, 0, 1, noon + 40 * second))],
      [call("b", two, 0, noon + 100 * second - 1), heldAt(seen(2, 0, 2, noon + 40 * second))],
      [call("c", two, 0, noon + 100 * second - 1), limited("requestsPerMinute", seen(2, 0, 2, noon + 40 * second))],
      [call("c", two, 0, noon + 100 * second), heldAt(seen(1, 0, 3, noon + 100 * second))],
    ],
    open: ["a", "b", "c"],
  },
  {
    title: "after a pause the next minute begins with its first call",
    steps: [
      [call("a", two), heldAt(seen(1, 0, 1))],
      [call("b", two, 0, noon + 90 * second), heldAt(seen(1, 0, 2, noon + 90 * second))],
      [call("c", two, 0, noon + 140 * second), heldAt(seen(2, 0, 3, noon + 90 * second))],
      [call("d", two, 0, noon + 149 * second), limited("requestsPerMinute", seen(2, 0, 3, noon + 90 * second))],
    ],
    open: ["a", "b", "c"],
  },
  {
    title: "a clock that goes back begins no new minute",
    steps: [
      [call("a", two), heldAt(seen(1, 0, 1))],
      [call("b", two, 0, noon - 10 * minute), heldAt(seen(2, 0, 2))],
      [call("c", two, 0, noon - 10 * minute), limited("requestsPerMinute", seen(2, 0, 2))],
    ],
    open: ["b", "a"],
  },
  {
    title: "a refused call begins no minute",
    steps: [
      [call("a", ten, 11), limited("tokensPerMinute", seen(0, 0, 0))],
      [call("a", ten, 10, noon + 30 * second), heldAt(seen(1, 10, 1, noon + 30 * second))],
    ],
    open: ["a"],
  },
  {
    title: "a limit of nothing refuses the first call",
    steps: [[call("a", { requestsPerMinute: 0 }), limited("requestsPerMinute", seen(0, 0, 0))]],
  },
  {
    title: "a limited call leaves its id free",
    steps: [
      [call("a", { requestsPerMinute: 1 }), heldAt(seen(1, 0, 1))],
      [call("b", { requestsPerMinute: 1 }), limited("requestsPerMinute", seen(1, 0, 1))],
      [settle("b", 1n), { outcome: "no-hold" }],
      [call("b", { requestsPerMinute: 1 }, 0, noon + minute), heldAt(seen(1, 0, 2, noon + minute))],
    ],
    open: ["a", "b"],
  },
  {
    title: "the same hold again is neither limited nor counted again",
    steps: [
      [call("a", { requestsPerMinute: 1, concurrentCalls: 1 }, 5), heldAt(seen(1, 5, 1))],
      [call("a", { requestsPerMinute: 1, concurrentCalls: 1 }, 5), exists],
      [settle("a", 1n), settled()],
      [call("a", { requestsPerMinute: 1, concurrentCalls: 1 }, 5), exists],
      [call("b", wide), heldAt(seen(2, 5, 1))],
    ],
    open: ["b"],
    debits: 1n,
  },
  {
    title: "calls without limits are counted, and are told nothing",
    steps: [
      [call("a", undefined, 7), held],
      [call("b", two, 1), heldAt(seen(2, 8, 2))],
      [call("c", two), limited("requestsPerMinute", seen(2, 8, 2))],
      [call("d"), held],
      [call("e", wide), heldAt(seen(4, 8, 4))],
    ],
    open: ["a", "b", "d", "e"],
  },
  {
    title: "limits that limit nothing still tell what was counted",
    steps: [[call("a", {}, 7), heldAt(seen(1, 7, 1))]],
    open: ["a"],
  },
  {
    title: "raising a hold is no request",
    steps: [
      [call("a", two, 3), heldAt(seen(1, 3, 1))],
      [topUp("a", 9n), raised],
      [topUp("a", 1n), exists],
      [release("a"), released],
      [call("b", two), heldAt(seen(2, 0, 1))],
    ],
    open: ["b"],
  },
];

const tokens: Case[] = [
  {
    title: "tokens in the minute: up to the limit, and not past it",
    steps: [
      [call("a", ten, 6), heldAt(seen(1, 6, 1))],
      [call("b", ten, 5), limited("tokensPerMinute", seen(1, 6, 1))],
      [call("b", ten, 4), heldAt(seen(2, 10, 2))],
      [call("c", ten, 1), limited("tokensPerMinute", seen(2, 10, 2))],
      [call("c", ten, 0), heldAt(seen(3, 10, 3))],
      [call("d", ten), heldAt(seen(4, 10, 4))],
    ],
    open: ["a", "b", "c", "d"],
  },
  {
    title: "a settlement puts the real figure in place of the likely one: less",
    steps: [
      [call("a", ten, 9), heldAt(seen(1, 9, 1))],
      [settle("a", 0n, noon, { tokens: 2 }), settled()],
      [call("b", ten, 9), limited("tokensPerMinute", seen(1, 2, 0))],
      [call("b", ten, 8), heldAt(seen(2, 10, 1))],
    ],
    open: ["b"],
  },
  {
    title: "a settlement puts the real figure in place of the likely one: more, past the limit too",
    steps: [
      [call("a", ten, 1), heldAt(seen(1, 1, 1))],
      [settle("a", 0n, noon, { tokens: 25 }), settled()],
      [call("b", ten), limited("tokensPerMinute", seen(1, 25, 0))],
      [call("b", wide), heldAt(seen(2, 25, 1))],
    ],
    open: ["b"],
  },
  {
    title: "tokens that only the settlement tells are counted then",
    steps: [
      [call("a"), held],
      [settle("a", 0n, noon, { tokens: 4 }), settled()],
      [call("b", wide, 3), heldAt(seen(2, 7, 1))],
    ],
    open: ["b"],
  },
  {
    title: "a settlement that tells no tokens leaves the likely figure",
    steps: [
      [call("a", ten, 9), heldAt(seen(1, 9, 1))],
      [settle("a", 0n), settled()],
      [call("b", wide), heldAt(seen(2, 9, 1))],
    ],
    open: ["b"],
  },
  {
    title: "a settlement twice corrects once",
    steps: [
      [call("a", ten, 9), heldAt(seen(1, 9, 1))],
      [settle("a", 0n, noon, { tokens: 5 }), settled()],
      [settle("a", 0n, noon, { tokens: 5 }), settledBefore()],
      [call("b", wide), heldAt(seen(2, 5, 1))],
    ],
    open: ["b"],
  },
  {
    title: "a release takes its tokens back, those of others stay",
    steps: [
      [call("a", ten, 6), heldAt(seen(1, 6, 1))],
      [call("b", ten, 4), heldAt(seen(2, 10, 2))],
      [release("a"), released],
      [release("a"), exists],
      [call("c", ten, 6), heldAt(seen(3, 10, 2))],
    ],
    open: ["b", "c"],
  },
  {
    title: "an expired call's tokens stay counted",
    steps: [
      [hold("a", key.id, 1n, { leaseUntil: noon, tokens: 6, rates: ten }), heldAt(seen(1, 6, 1))],
      [sweep(noon + 1), swept(1)],
      [call("b", ten, 4, noon + 2), heldAt(seen(2, 10, 1))],
      [settle("a", 0n, noon + 3, { tokens: 1 }), settled()],
      [call("c", wide, 0, noon + 4), heldAt(seen(3, 10, 2))],
    ],
    open: ["b", "c"],
  },
  {
    title: "an end corrects its own minute only",
    steps: [
      [call("a", ten, 6), heldAt(seen(1, 6, 1))],
      [call("b", ten, 4), heldAt(seen(2, 10, 2))],
      [call("c", ten, 5, noon + minute), heldAt(seen(1, 5, 3, noon + minute))],
      [settle("a", 0n, noon + minute, { tokens: 9 }), settled()],
      [release("b", noon + minute), released],
      [call("d", ten, 5, noon + minute), heldAt(seen(2, 10, 2, noon + minute))],
    ],
    open: ["c", "d"],
  },
  {
    title: "an end after its minute leaves the next one fresh",
    steps: [
      [call("a", ten, 6), heldAt(seen(1, 6, 1))],
      [settle("a", 0n, noon + 2 * minute, { tokens: 9 }), settled()],
      [call("b", ten, 1, noon + 2 * minute), heldAt(seen(1, 1, 1, noon + 2 * minute))],
    ],
    open: ["b"],
  },
];

const single = { concurrentCalls: 1 };

const atOnce: Case[] = [
  {
    title: "calls at once: as many as the limit, and the next when one was settled, released or has expired",
    steps: [
      [call("a", single), heldAt(seen(1, 0, 1))],
      [call("x", single), limited("concurrentCalls", seen(1, 0, 1))],
      [settle("a", 1n), settled()],
      [call("b", single), heldAt(seen(2, 0, 1))],
      [call("x", single), limited("concurrentCalls", seen(2, 0, 1))],
      [release("b"), released],
      [hold("c", key.id, 1n, { leaseUntil: noon, rates: single }), heldAt(seen(3, 0, 1))],
      [call("x", single), limited("concurrentCalls", seen(3, 0, 1))],
      [sweep(noon + 1), swept(1)],
      [call("d", single), heldAt(seen(4, 0, 1))],
    ],
    open: ["d"],
    debits: 1n,
  },
  {
    title: "calls that were taken without limits are open too",
    steps: [
      [call("a"), held],
      [call("b", single), limited("concurrentCalls", seen(1, 0, 1))],
    ],
    open: ["a"],
  },
  {
    title: "a call stays open beyond its minute",
    steps: [
      [call("a", single), heldAt(seen(1, 0, 1))],
      [call("b", single, 0, noon + 5 * minute), limited("concurrentCalls", seen(0, 0, 1, noon + 5 * minute))],
    ],
    open: ["a"],
  },
  {
    title: "a late end ends no call a second time",
    steps: [
      [hold("a", key.id, 1n, { leaseUntil: noon }), held],
      [renew("a", noon, 1n), renewed],
      [call("b"), held],
      [sweep(noon + 1), swept(1)],
      [settle("a", 0n, noon + 2), settled()],
      [call("c", { concurrentCalls: 2 }, 0, noon + 3), heldAt(seen(3, 0, 2))],
      [call("d", { concurrentCalls: 2 }, 0, noon + 3), limited("concurrentCalls", seen(3, 0, 2))],
    ],
    open: ["b", "c"],
  },
  {
    title: "of several limits that are reached, requests are named first, then tokens",
    steps: [
      [call("a", undefined, 5), held],
      [
        call("b", { requestsPerMinute: 1, tokensPerMinute: 5, concurrentCalls: 1 }, 1),
        limited("requestsPerMinute", seen(1, 5, 1)),
      ],
      [
        call("b", { requestsPerMinute: 2, tokensPerMinute: 5, concurrentCalls: 1 }, 1),
        limited("tokensPerMinute", seen(1, 5, 1)),
      ],
      [
        call("b", { requestsPerMinute: 2, tokensPerMinute: 6, concurrentCalls: 1 }, 1),
        limited("concurrentCalls", seen(1, 5, 1)),
      ],
      [call("b", { requestsPerMinute: 2, tokensPerMinute: 6, concurrentCalls: 2 }, 1), heldAt(seen(2, 6, 2))],
    ],
    open: ["a", "b"],
  },
];

const alice = user("alice", { prepaid: true });
const one = token("one", { parentId: alice.id });
const other = token("other", { parentId: alice.id });

const chains: LedgerCase[] = [
  {
    title: "a call that lacks room counts nothing",
    accounts: [alice, one],
    steps: [
      [call("a", two, 9, noon, one.id), insufficient(alice.id, 0n)],
      [grant("g", alice.id, 1n), granted],
      [call("a", two, 9, noon + 1, one.id), heldAt(seen(1, 9, 1, noon + 1))],
      [call("b", two, 9, noon + 2, one.id), insufficient(alice.id, 0n)],
      [release("a"), released],
      [call("b", two, 1, noon + 3, one.id), heldAt(seen(2, 1, 1, noon + 1))],
    ],
    after: { [alice.id]: { credits: 1n, pending: 1n }, [one.id]: { pending: 1n } },
    open: ["b"],
  },
  {
    title: "limits come before room",
    accounts: [alice],
    steps: [[call("a", { concurrentCalls: 0 }, 0, noon, alice.id), limited("concurrentCalls", seen(0, 0, 0))]],
    after: { [alice.id]: {} },
  },
  {
    title: "tokens of one user are counted apart, and all of them for the user",
    accounts: [alice, one, other],
    steps: [
      [grant("g", alice.id, 10n), granted],
      [call("a", two, 3, noon, one.id), heldAt(seen(1, 3, 1))],
      [call("b", two, 4, noon + 1, other.id), heldAt(seen(1, 4, 1, noon + 1))],
      [call("x", two, 5, noon + 2, alice.id), limited("requestsPerMinute", seen(2, 7, 2))],
      [call("c", { requestsPerMinute: 3 }, 5, noon + 2, alice.id), heldAt(seen(3, 12, 3))],
      [call("d", two, 1, noon + 3, one.id), heldAt(seen(2, 4, 2))],
    ],
    after: { [alice.id]: { credits: 10n, pending: 4n }, [one.id]: { pending: 2n }, [other.id]: { pending: 1n } },
    open: ["a", "b", "c", "d"],
  },
];

export function describeRates(open: OpenLedgerStore): void {
  testCases(open, [...[...requests, ...tokens, ...atOnce].map(rateCase), ...chains]);

  test("the counts of one connection are visible to all, and survive new limits of the account", async () => {
    const { store, connectAgain, close } = await open();
    const again = await connectAgain();
    await store.putAccount(key, noon);
    expect(await store.commit([call("a", wide, 3)])).toEqual([heldAt(seen(1, 3, 1))]);
    expect(await again.commit([call("b", wide, 4)])).toEqual([heldAt(seen(2, 7, 2))]);
    await again.putAccount({ ...key, maxBudget: 50n }, noon);
    expect(await again.commit([settle("a", 0n, noon, { tokens: 1 })])).toEqual([settled()]);
    expect(await store.commit([call("c", wide)])).toEqual([heldAt(seen(3, 5, 2))]);
    await close();
  });

  test("of calls that several connections ask for, exactly as many are taken as the limit lets through", async () => {
    const { store, connectAgain, close } = await open();
    const stores = [store, await connectAgain(), await connectAgain()];
    await store.putAccount(key, noon);
    const asked = Array.from({ length: 30 }, async (_, index) =>
      (stores[index % stores.length] ?? store).commit([
        call(`h${index}`, { requestsPerMinute: 7, concurrentCalls: 9 }),
      ]),
    );
    const outcomes = (await Promise.all(asked)).flat().map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === "held")).toHaveLength(7);
    expect(outcomes.filter((outcome) => outcome === "limited")).toHaveLength(23);
    expect((await store.audit()).drifts).toEqual([]);
    await close();
  });
}
