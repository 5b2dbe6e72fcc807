/** Credits that an operator takes back, and charges that are given back. */
import { expect, test } from "bun:test";
import {
  conflict,
  day,
  exists,
  expectCleanBooks,
  expectCounters,
  grant,
  granted,
  held,
  hold,
  insufficient,
  keep,
  type LedgerCase,
  minute,
  noAccount,
  noon,
  type OpenLedgerStore,
  organisation,
  refund,
  refunded,
  refundedBefore,
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
  user,
} from "./world.ts";

const alice = user("alice", { prepaid: true, maxBudget: 1_000n, period: "daily" });
const key = token("key", { parentId: alice.id });
const leased = { leaseUntil: noon + minute };
const late = noon + 2 * minute;

type Steps = LedgerCase["steps"];

const funded: Steps = [[grant("g", alice.id, 100n), granted]];
const charged: Steps = [...funded, [hold("h", key.id, 60n, leased), held], [settle("h", 40n), settled()]];
const running = { outcome: "running" } as const;
const free = { outcome: "free" } as const;
const noCall = { outcome: "no-call" } as const;

function row(title: string, steps: Steps, credits: bigint, debits: bigint, rest: Partial<LedgerCase> = {}): LedgerCase {
  const after = { [alice.id]: { credits, debits }, [key.id]: { debits } };
  return { title, accounts: [alice, key], steps, after, ...rest };
}

const takings: LedgerCase[] = [
  row("credits are taken back to the last one", [...funded, [grant("t", alice.id, -100n), granted]], 0n, 0n),
  row(
    "one more than there are: nothing is",
    [...funded, [grant("t", alice.id, -101n), insufficient(alice.id, 100n)]],
    100n,
    0n,
  ),
  row(
    "neither those that are held nor those that are spent",
    [
      ...charged,
      [hold("i", key.id, 35n), held],
      [grant("t", alice.id, -26n), insufficient(alice.id, 25n)],
      [grant("u", alice.id, -25n), granted],
      [hold("j", key.id, 1n), insufficient(alice.id, 0n)],
    ],
    75n,
    40n,
    {
      after: { [alice.id]: { credits: 75n, debits: 40n, pending: 35n }, [key.id]: { debits: 40n, pending: 35n } },
      open: ["i"],
    },
  ),
  row(
    "the same taking again counts once, and another one with its id is a conflict",
    [
      ...funded,
      [grant("t", alice.id, -30n), granted],
      [grant("t", alice.id, -30n), exists],
      [grant("t", alice.id, 30n), conflict],
      [grant("t", alice.id, -31n), conflict],
      [grant("t", key.id, -30n), conflict],
      [grant("g", alice.id, -100n), conflict],
    ],
    70n,
    0n,
  ),
  row("nobody has nothing", [...funded, [grant("t", "user:nobody", -1n), noAccount]], 100n, 0n),
];

const refunds: LedgerCase[] = [
  row(
    "a charge is given back once",
    [...charged, [refund("h"), refunded(40n)], [refund("h"), refundedBefore(40n)]],
    100n,
    0n,
  ),
  row(
    "what was given back can be spent and taken again",
    [
      ...charged,
      [hold("i", key.id, 61n), insufficient(alice.id, 60n)],
      [refund("h"), refunded(40n)],
      [hold("i", key.id, 100n), held],
      [settle("i", 70n), settled()],
      [grant("t", alice.id, -30n), granted],
    ],
    70n,
    70n,
  ),
  row(
    "not of a call that runs, was free, or never was, nor of an entry that is none",
    [
      ...charged,
      [hold("i", key.id, 10n), held],
      [refund("i"), running],
      [release("i"), released],
      [refund("i"), free],
      [refund("nothing"), noCall],
      [refund("g"), noCall],
      [refund("h"), refunded(40n)],
      [refund("h:refund"), noCall],
    ],
    100n,
    0n,
  ),
  row(
    "the end of a refunded call, repeated, is what it was",
    [...charged, [refund("h"), refunded(40n)], [settle("h", 40n), settledBefore()], [settle("h", 41n), conflict]],
    100n,
    0n,
  ),
  row(
    "an expiry and its dearer late end are given back together",
    [
      ...funded,
      [hold("h", key.id, 60n, leased), held],
      [renew("h", noon + minute, 20n), renewed],
      [sweep(late), swept(1)],
      [settle("h", 50n, late), settled()],
      [refund("h:late", late), noCall],
      [refund("h", late), refunded(50n)],
      [refund("h", late), refundedBefore(50n)],
    ],
    100n,
    0n,
  ),
  row(
    "of an expiry whose late end was cheaper, the rest is",
    [
      ...funded,
      [hold("h", key.id, 60n, leased), held],
      [keep("job", "h", noon + minute), renewed],
      [sweep(late), swept(1)],
      [settle("h", 10n, late), settled()],
      [refund("h", late), refunded(10n)],
    ],
    100n,
    0n,
  ),
  row(
    "and after a late end of nothing, nothing is left",
    [
      ...funded,
      [hold("h", key.id, 60n, leased), held],
      [keep("job", "h", noon + minute), renewed],
      [sweep(late), swept(1)],
      [refund("h", late), refunded(60n)],
      // Whatever the job has to report now: nothing is charged, and nothing is returned a second time.
      [settle("h", 90n, late), settledBefore()],
      [settle("h", 10n, late), settledBefore()],
      [release("h", late), exists],
      [refund("h", late), refundedBefore(60n)],
    ],
    100n,
    0n,
  ),
  row(
    "an expiry without a cost can be refunded once a late end has charged it",
    [
      ...funded,
      [hold("h", key.id, 60n, leased), held],
      [sweep(late), swept(1)],
      [refund("h", late), free],
      [settle("h", 30n, late), settled()],
      [refund("h", late), refunded(30n)],
      [settle("h", 30n, late), settledBefore()],
    ],
    100n,
    0n,
  ),
  row(
    "a charge beyond the balance: what was paid is given back, and the rest stays unpaid",
    [
      ...funded,
      [hold("h", key.id, 60n, leased), held],
      [settle("h", 150n), settled(50n)],
      [refund("h"), refunded(100n)],
    ],
    100n,
    0n,
    { shortfall: 50n },
  ),
];

/** Three levels with a budget by day, by month and in total. */
const levels = {
  company: organisation("o", { prepaid: true, maxBudget: 1_000n }),
  bob: user("bob", { parentId: "organisation:o", maxBudget: 1_000n, period: "monthly" }),
  phone: token("phone", { parentId: "user:bob", maxBudget: 1_000n, period: "daily" }),
} as const;

/** Noon of the month's last day but one. */
const end = Date.UTC(2026, 10, 29, 12);

function spending(
  title: string,
  steps: Steps,
  spent: [company: bigint, bob: bigint, phone: bigint],
  at: number,
): LedgerCase {
  const { company, bob, phone } = levels;
  const debits = spent[0];
  return {
    title,
    accounts: [company, bob, phone],
    steps: [[grant("g", company.id, 1_000n, end), granted], ...steps],
    after: {
      [company.id]: { credits: 1_000n, debits, period: spent[0] },
      [bob.id]: { debits, period: spent[1] },
      [phone.id]: { debits, period: spent[2] },
    },
    at,
  };
}

const at = (days: number) => end + days * day;
const lease = (days: number) => ({ leaseUntil: at(days) + minute });
const charge = (id: string, amount: bigint, days: number): Steps => [
  [hold(id, levels.phone.id, amount, { at: at(days), ...lease(days) }), held],
  [settle(id, amount, at(days)), settled()],
];

const spendings: LedgerCase[] = [
  spending(
    "a refund on the same day lowers the spending of every budget",
    [...charge("h", 40n, 0), ...charge("i", 5n, 0), [refund("h", at(0)), refunded(40n)]],
    [5n, 5n, 5n],
    at(0),
  ),
  spending(
    "on the next day, that of the month and in total, but not of the new day",
    [...charge("h", 40n, 0), ...charge("i", 5n, 1), [refund("h", at(1)), refunded(40n)]],
    [5n, 5n, 5n],
    at(1),
  ),
  spending(
    "in the next month, only the total",
    [...charge("h", 40n, 0), ...charge("i", 5n, 2), [refund("h", at(2)), refunded(40n)]],
    [5n, 5n, 5n],
    at(2),
  ),
  spending(
    "a refund alone begins the new day without any spending",
    [...charge("h", 40n, 0), ...charge("i", 5n, 0), [refund("h", at(2)), refunded(40n)]],
    [5n, 0n, 0n],
    at(2),
  ),
  spending(
    "of a charge of two days, each day gets its own part back",
    [
      [hold("h", levels.phone.id, 60n, { at: at(0), ...lease(0) }), held],
      [renew("h", at(0) + minute, 20n), renewed],
      [sweep(at(0) + 2 * minute), swept(1)],
      [settle("h", 50n, at(1)), settled()],
      ...charge("i", 5n, 1),
      [refund("h", at(1)), refunded(50n)],
    ],
    [5n, 5n, 5n],
    at(1),
  ),
];

export function describeRefunds(open: OpenLedgerStore): void {
  testCases(open, takings);
  testCases(open, refunds);
  testCases(open, spendings);

  test("each is an entry of its own, with its actor and its reason, which nobody changes", async () => {
    const { store, query, close } = await open();
    for (const account of [alice, key]) await store.putAccount(account, noon);
    await store.commit([
      { ...grant("g", alice.id, 100n), actor: "cli:ann", reason: "invoice 7" },
      hold("h", key.id, 60n, leased),
      settle("h", 40n),
      { ...grant("t", alice.id, -10n), actor: "token:tg_1", reason: "typed twice" },
      { ...refund("h", noon + 5), actor: "cli:ben", reason: "an outage" },
    ]);
    const columns = "id, kind, debit_account, credit_account, amount, corrects_at, actor, reason";
    const rows = await query(`SELECT ${columns} FROM entries WHERE reason IS NOT NULL ORDER BY id`);
    const entry = (id: string, kind: string, sides: [string, string], amount: bigint, rest: object) => {
      const [debit, credit] = sides;
      return { id, kind, debit_account: debit, credit_account: credit, amount, corrects_at: null, ...rest };
    };
    expect(rows).toEqual([
      entry("g", "grant", ["bank", alice.id], 100n, { actor: "cli:ann", reason: "invoice 7" }),
      entry("h:refund", "settle", ["revenue", key.id], 40n, {
        corrects_at: BigInt(noon),
        actor: "cli:ben",
        reason: "an outage",
      }),
      entry("t", "grant", [alice.id, "bank"], 10n, { actor: "token:tg_1", reason: "typed twice" }),
    ]);
    const exported = [];
    for await (const page of store.books.pages(0, noon + day)) exported.push(...page);
    expect(exported.find(({ id }) => id === "h:refund")).toMatchObject({
      kind: "refund",
      actor: "cli:ben",
      reason: "an outage",
      correctsAt: noon,
    });
    expect(await query("UPDATE entries SET reason = 'none'").then(() => "changed", String)).toContain("only appended");
    await expectCounters(store, { [alice.id]: { credits: 90n } });
    await close();
  });

  test("a sealed call can be refunded, one that was removed cannot, and the books balance", async () => {
    const { store, close } = await open();
    for (const account of [alice, key]) await store.putAccount(account, noon);
    await store.commit([grant("g", alice.id, 100n), hold("h", key.id, 40n), settle("h", 40n)]);
    await store.commit([hold("i", key.id, 30n), settle("i", 30n)]);
    await store.books.close(noon + day);
    expect(await store.books.seal(await store.books.openingsBefore(noon + day))).toBe(true);
    expect(await store.commit([refund("h", noon + 2 * day)])).toEqual([refunded(40n)]);
    await expectCleanBooks(store);
    await store.books.allowRemoval(noon + day);
    let removed = 0;
    for await (const count of store.books.removals()) removed += count;
    expect(removed).toBe(3);
    expect(await store.commit([refund("i", noon + 2 * day)])).toEqual([noCall]);
    // The entry of the earlier refund is there, but not its call.
    expect(await store.commit([refund("h", noon + 2 * day)])).toEqual([noCall]);
    await expectCleanBooks(store);
    await expectCounters(store, { [alice.id]: { credits: 100n, debits: 30n } }, noon + 2 * day);
    await close();
  });
}
