/** Limits of the accounts above a token's, which count the calls of all tokens below them. */
import { expect, test } from "bun:test";
import type { RateLimits } from "../../../src/core/index.ts";
import type { Hold, RateState } from "../../../src/ledger/index.ts";
import {
  grant,
  granted,
  held,
  hold,
  type LedgerCase,
  limited,
  minute,
  noon,
  type OpenLedgerStore,
  organisation,
  release,
  released,
  settle,
  settled,
  sweep,
  swept,
  testCases,
  token,
  user,
} from "./world.ts";

const seen = (requests: number, tokens: number, calls: number): RateState => ({
  requests,
  tokens,
  calls,
  minuteEndsAt: noon + minute,
});

type Case = Pick<LedgerCase, "title" | "steps" | "open">;

const two = { requestsPerMinute: 2 };
const ten = { tokensPerMinute: 10 };
const single = { concurrentCalls: 1 };

const acme = organisation("acme", { prepaid: true });
const bob = user("bob", { parentId: acme.id });
const bobs = token("bobs", { parentId: bob.id });
const bobs2 = token("bobs-2", { parentId: bob.id });
const eve = user("eve", { parentId: acme.id });
const eves = token("eves", { parentId: eve.id });

const under = (id: string, accountId: string, ratesAbove: RateLimits[], rest: Partial<Hold> = {}) => ({
  ...hold(id, accountId, 1n, { at: noon, ...rest }),
  ratesAbove,
});

const heldAbove = (...ratesAbove: RateState[]) => ({ outcome: "held", ratesAbove }) as const;
const limitedAbove = (limit: keyof RateLimits, level: number, ...ratesAbove: RateState[]) =>
  ({ outcome: "limited", limit, level, ratesAbove }) as const;

const aboveCase = ({ title, steps, open = [] }: Case): LedgerCase => ({
  title,
  accounts: [acme, bob, bobs, bobs2, eve, eves],
  steps: [[grant("g", acme.id, 100n), granted], ...steps],
  after: {
    [acme.id]: { credits: 100n, pending: BigInt(open.length) },
    [bob.id]: { pending: BigInt(open.length) },
    [bobs.id]: { pending: BigInt(open.length) },
  },
  open,
});

const levels: LedgerCase[] = [
  aboveCase({
    title: "a user's limit counts the calls of all their tokens, and of no other user",
    steps: [
      [under("a", bobs.id, [two]), heldAbove(seen(1, 0, 1))],
      [under("b", bobs2.id, [two]), heldAbove(seen(2, 0, 2))],
      [under("c", bobs.id, [two]), limitedAbove("requestsPerMinute", 1, seen(2, 0, 2))],
      [under("d", eves.id, [two]), heldAbove(seen(1, 0, 1))],
      [release("b"), released],
      [release("d"), released],
    ],
    open: ["a"],
  }),
  aboveCase({
    title: "calls that were taken without limits count above too, and their tokens",
    steps: [
      [hold("a", bobs.id, 1n, { tokens: 4 }), held],
      [hold("b", bobs2.id, 1n, { tokens: 4 }), held],
      [under("c", bobs.id, [ten], { tokens: 3 }), limitedAbove("tokensPerMinute", 1, seen(2, 8, 2))],
      [settle("b", 0n, noon, { tokens: 7 }), settled()],
      [under("c", bobs.id, [ten], { tokens: 1 }), limitedAbove("tokensPerMinute", 1, seen(2, 11, 1))],
      [under("c", bobs.id, [{ tokensPerMinute: 12 }], { tokens: 1 }), heldAbove(seen(3, 12, 2))],
      [release("a"), released],
    ],
    open: ["c"],
  }),
  aboveCase({
    title: "an organisation's calls at once: the next begins when one of any user has ended, or expired",
    steps: [
      [under("a", bobs.id, [{}, single], { leaseUntil: noon }), heldAbove(seen(1, 0, 1), seen(1, 0, 1))],
      [under("b", eves.id, [{}, single]), limitedAbove("concurrentCalls", 2, seen(0, 0, 0), seen(1, 0, 1))],
      [sweep(noon + 1), swept(1)],
      [under("b", eves.id, [{}, single]), heldAbove(seen(1, 0, 1), seen(2, 0, 1))],
      [under("c", bobs.id, [{}, single]), limitedAbove("concurrentCalls", 2, seen(1, 0, 0), seen(2, 0, 1))],
      [settle("b", 0n), settled()],
      [under("c", bobs.id, [{}, single]), heldAbove(seen(2, 0, 1), seen(3, 0, 1))],
    ],
    open: ["c"],
  }),
  aboveCase({
    title: "parts of a call are no requests and no open calls, at any level; their tokens count",
    steps: [
      [under("call", bobs.id, [single, two]), heldAbove(seen(1, 0, 1), seen(1, 0, 1))],
      [under("a", bobs.id, [ten, ten], { tokens: 4, isPart: true }), heldAbove(seen(1, 4, 1), seen(1, 4, 1))],
      [under("b", bobs.id, [single, two], { tokens: 4, isPart: true }), heldAbove(seen(1, 8, 1), seen(1, 8, 1))],
      [under("c", bobs.id, [ten], { tokens: 4, isPart: true }), limitedAbove("tokensPerMinute", 1, seen(1, 8, 1))],
      [settle("a", 0n, noon, { tokens: 1 }), settled()],
      [release("b"), released],
      [under("other", eves.id, [single, two]), heldAbove(seen(1, 0, 1), seen(2, 1, 2))],
      [under("last", eves.id, [{}, two]), limitedAbove("requestsPerMinute", 2, seen(1, 0, 1), seen(2, 1, 2))],
      [settle("call", 0n), settled()],
      [under("last", bobs.id, [single]), heldAbove(seen(2, 1, 1))],
      [release("other"), released],
    ],
    open: ["last"],
  }),
  aboveCase({
    title: "a part that expires leaves the count of open calls",
    steps: [
      [under("call", bobs.id, [single]), heldAbove(seen(1, 0, 1))],
      [under("a", bobs.id, [ten], { tokens: 3, isPart: true, leaseUntil: noon }), heldAbove(seen(1, 3, 1))],
      [sweep(noon + 1), swept(1)],
      [under("b", bobs2.id, [single]), limitedAbove("concurrentCalls", 1, seen(1, 3, 1))],
      [release("call"), released],
      [under("b", bobs2.id, [single]), heldAbove(seen(2, 3, 1))],
      [release("b"), released],
      [under("c", bobs.id, [single]), heldAbove(seen(3, 3, 1))],
    ],
    open: ["c"],
  }),
  aboveCase({
    title: "the nearest level that is over its limit refuses, and nothing is counted",
    steps: [
      [
        under("a", bobs.id, [two, two], { rates: { concurrentCalls: 1 } }),
        { ...heldAbove(seen(1, 0, 1), seen(1, 0, 1)), rates: seen(1, 0, 1) },
      ],
      [
        under("b", bobs.id, [single, single], { rates: { concurrentCalls: 1 } }),
        { ...limited("concurrentCalls", seen(1, 0, 1)), ratesAbove: [seen(1, 0, 1), seen(1, 0, 1)] },
      ],
      [under("b", bobs.id, [two, single]), limitedAbove("concurrentCalls", 2, seen(1, 0, 1), seen(1, 0, 1))],
      [under("b", bobs2.id, [two, two]), heldAbove(seen(2, 0, 2), seen(2, 0, 2))],
      [release("b"), released],
    ],
    open: ["a"],
  }),
];

export function describeLevels(open: OpenLedgerStore): void {
  testCases(open, levels);

  test("of calls of several users through several connections, exactly as many are taken as their organisation's limit lets through", async () => {
    const { store, connectAgain, close } = await open();
    const stores = [store, await connectAgain(), await connectAgain()];
    for (const account of [acme, bob, bobs, bobs2, eve, eves]) await store.putAccount(account, noon);
    await store.commit([grant("g", acme.id, 100n)]);
    const owners = [bobs, bobs2, eves];
    const asked = Array.from({ length: 30 }, async (_, index) =>
      (stores[index % stores.length] ?? store).commit([
        under(`h${index}`, (owners[index % 3] ?? bobs).id, [{}, { requestsPerMinute: 7, concurrentCalls: 9 }]),
      ]),
    );
    const outcomes = (await Promise.all(asked)).flat().map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === "held")).toHaveLength(7);
    expect((await store.audit()).drifts).toEqual([]);
    await close();
  });
}
