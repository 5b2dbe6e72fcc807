/** The written rows: one entry per transfer, never changed; commits whole or not at all; drifts found. */
import { expect, test } from "bun:test";
import type { Drift } from "../../../src/ledger/index.ts";
import {
  expectCleanBooks,
  expectCounters,
  grant,
  granted,
  held,
  hold,
  insufficient,
  keep,
  minute,
  noon,
  type OpenedLedgerStore,
  type OpenLedgerStore,
  organisation,
  release,
  renew,
  settle,
  settled,
  stateOf,
  sweep,
  token,
  user,
} from "./world.ts";

const company = organisation("company", { maxBudget: 1_000n });
const alice = user("alice", { prepaid: true, parentId: company.id });
const key = token("key", { parentId: alice.id });
const leased = { leaseUntil: noon + minute };

/** A chain of three with 500 credits, of which 100 are charged and 50 held. */
async function booked(open: OpenLedgerStore): Promise<OpenedLedgerStore> {
  const opened = await open();
  for (const account of [company, alice, key]) await opened.store.putAccount(account, noon);
  await opened.store.commit([
    grant("g", alice.id, 500n),
    hold("charged", key.id, 150n),
    settle("charged", 100n),
    hold("returned", key.id, 70n),
    release("returned"),
    hold("open", key.id, 50n, leased),
  ]);
  return opened;
}

interface Entry {
  id: string;
  kind: string;
  debit: string;
  credit: string;
  amount: bigint;
  held: bigint;
  shortfall: bigint;
}

const integer = (value: unknown): bigint => BigInt(String(value));

async function entriesOf({ query }: OpenedLedgerStore): Promise<Entry[]> {
  const rows = await query("SELECT * FROM entries ORDER BY id");
  return rows.map((row) => ({
    id: String(row["id"]),
    kind: String(row["kind"]),
    debit: String(row["debit_account"]),
    credit: String(row["credit_account"]),
    amount: integer(row["amount"]),
    held: integer(row["held"]),
    shortfall: integer(row["shortfall"]),
  }));
}

/** A charge of the token, as the books have it. */
const charge = (id: string, kind: string, amount: bigint, rest: Partial<Entry> = {}): Entry => ({
  id,
  kind,
  debit: key.id,
  credit: "revenue",
  amount,
  held: 0n,
  shortfall: 0n,
  ...rest,
});

const drift = (accountId: string, counter: Drift["counter"], recorded: bigint, recomputed: bigint): Drift => ({
  accountId,
  counter,
  recorded,
  recomputed,
});

/** Manual changes of the tables, and the drifts that an audit must then report. */
const damages: { title: string; sql: string; drifts: Drift[] }[] = [
  {
    title: "credits from nowhere",
    sql: "UPDATE accounts SET credits_posted = credits_posted + 1 WHERE id = 'user:alice'",
    drifts: [drift(alice.id, "credits_posted", 501n, 500n)],
  },
  {
    title: "a forgotten charge",
    sql: "UPDATE accounts SET debits_posted = debits_posted - 100 WHERE id = 'organisation:company'",
    drifts: [drift(company.id, "debits_posted", 0n, 100n)],
  },
  {
    title: "a hold that leaked",
    sql: "UPDATE accounts SET debits_pending = debits_pending + 7 WHERE id = 'token:key'",
    drifts: [drift(key.id, "debits_pending", 57n, 50n)],
  },
  {
    title: "a hold that was ended without giving back",
    sql: "DELETE FROM holds WHERE id = 'open'",
    drifts: [company, alice, key].flatMap(({ id }) => [
      drift(id, "debits_pending", 50n, 0n),
      drift(id, "open_calls", 1n, 0n),
    ]),
  },
  {
    title: "an open call that is not counted",
    sql: "UPDATE accounts SET open_calls = 0 WHERE id = 'token:key'",
    drifts: [drift(key.id, "open_calls", 0n, 1n)],
  },
  {
    title: "an entry without its posting",
    sql: `INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
      VALUES ('forged', 'grant', 'bank', 'user:alice', 9, 0, 0, 0)`,
    drifts: [drift(alice.id, "credits_posted", 500n, 509n)],
  },
];

function describeEntries(open: OpenLedgerStore): void {
  test("each grant and each end of a hold is one entry with both sides", async () => {
    const opened = await booked(open);
    await opened.store.commit([
      hold("over", key.id, 10n),
      settle("over", 400n),
      hold("free", key.id, 0n),
      settle("free", 0n),
    ]);
    expect(await entriesOf(opened)).toEqual([
      charge("charged", "settle", 100n, { held: 150n }),
      charge("free", "settle", 0n),
      charge("g", "grant", 500n, { debit: "bank", credit: alice.id }),
      // 500 credits less 100 charged and 50 held.
      charge("over", "settle", 350n, { held: 10n, shortfall: 50n }),
      charge("returned", "release", 0n, { held: 70n }),
    ]);
    await opened.close();
  });

  test("an expiry is booked under the hold's id, and the correction by a late end as a second transfer", async () => {
    const opened = await booked(open);
    await opened.store.commit([
      hold("dearer", key.id, 60n, leased),
      renew("dearer", noon + minute, 40n),
      hold("cheaper", key.id, 60n, leased),
      renew("cheaper", noon + minute, 40n),
      sweep(noon + 2 * minute),
    ]);
    await opened.store.commit([settle("dearer", 55n, noon + 3 * minute), settle("cheaper", 30n, noon + 3 * minute)]);
    const transfers = (await entriesOf(opened)).filter(({ id }) => /^(dear|cheap)er/.test(id));
    expect(transfers).toEqual([
      charge("cheaper", "expire", 40n, { held: 60n }),
      charge("cheaper:late", "settle", 10n, { debit: "revenue", credit: key.id }),
      charge("dearer", "expire", 40n, { held: 60n }),
      charge("dearer:late", "settle", 15n),
    ]);
    await expectCounters(opened.store, { [alice.id]: { credits: 500n, debits: 185n } });
    await expectCleanBooks(opened.store);
    await opened.close();
  });

  test.each([["UPDATE entries SET amount = amount + 1"], ["DELETE FROM entries"]])(
    "entries are only appended: %s is refused",
    async (sql) => {
      const opened = await booked(open);
      const before = await entriesOf(opened);
      const refusal = await opened.query(sql).then(
        () => "done",
        () => "refused",
      );
      expect(refusal).toBe("refused");
      expect(await entriesOf(opened)).toEqual(before);
      await opened.close();
    },
  );
}

function describeAudit(open: OpenLedgerStore): void {
  test("the audit counts all entries", async () => {
    const opened = await booked(open);
    await opened.store.commit([hold("over", key.id, 10n), settle("over", 700n)]);
    // 500 credits, 100 charged, 50 held: 350 are left for a charge of 700.
    expect(await opened.store.audit()).toEqual({ accounts: 3, entries: 4, openHolds: 1, shortfall: 350n, drifts: [] });
    await opened.close();
  });

  test.each(damages.map((row) => [row.title, row] as const))("the audit finds %s", async (_title, { sql, drifts }) => {
    const opened = await booked(open);
    await expectCleanBooks(opened.store);
    await opened.query(sql);
    const report = await opened.store.audit();
    const sorted = report.drifts.toSorted((a, b) => a.accountId.localeCompare(b.accountId));
    expect(sorted).toEqual(drifts.toSorted((a, b) => a.accountId.localeCompare(b.accountId)));
    await opened.close();
  });

  test("open holds are listed with everything about them, oldest first", async () => {
    const opened = await booked(open);
    await opened.store.commit([
      hold("second", key.id, 20n, { at: noon + 2, leaseUntil: noon + 9 }),
      hold("first", key.id, 10n, { at: noon + 1, leaseUntil: noon + 9 }),
      keep("job", "second", noon + 99, 15n),
      release("open"),
    ]);
    const common = { accountId: key.id, description: "chat openai/some-model" };
    const first = { ...common, id: "first", amount: 10n, observed: undefined, createdAt: noon + 1 };
    const second = { ...common, id: "second", amount: 20n, observed: 15n, createdAt: noon + 2 };
    expect(await opened.store.openHolds()).toEqual([
      { ...first, leaseUntil: noon + 9, keeper: "process" },
      { ...second, leaseUntil: noon + 99, keeper: "job" },
    ]);
    await opened.close();
  });
}

function describeAccounts(open: OpenLedgerStore): void {
  test("a chain reads from the token upwards, and an unknown account has none", async () => {
    const opened = await booked(open);
    const chain = await opened.store.chain(key.id, noon);
    expect(chain.map(({ id }) => id)).toEqual([key.id, alice.id, company.id]);
    expect(chain[1]).toEqual({
      ...alice,
      creditsPosted: 500n,
      debitsPosted: 100n,
      debitsPending: 50n,
      periodDebits: 100n,
    });
    expect(await opened.store.chain("token:nobody", noon)).toEqual([]);
    await opened.close();
  });

  test("putting an account again sets its limits, never its counters or its parent", async () => {
    const opened = await booked(open);
    await opened.store.putAccount({ ...key, parentId: undefined, maxBudget: 120n, period: "daily" }, noon);
    await opened.store.putAccount({ ...alice, prepaid: true, maxBudget: 130n }, noon);
    const chain = await opened.store.chain(key.id, noon);
    expect(chain.map(({ id }) => id)).toEqual([key.id, alice.id, company.id]);
    expect(chain[0]).toMatchObject({ maxBudget: 120n, period: "daily", debitsPosted: 100n, debitsPending: 50n });
    expect(chain[1]).toMatchObject({ maxBudget: 130n, creditsPosted: 500n, debitsPosted: 100n, debitsPending: 50n });
    await expectCleanBooks(opened.store);
    await opened.close();
  });

  test("a budget lowered below the spending refuses further holds and lets open ones end", async () => {
    const opened = await booked(open);
    await opened.store.putAccount({ ...key, maxBudget: 40n }, noon);
    const outcomes = await opened.store.commit([hold("more", key.id, 1n), settle("open", 45n)]);
    // 40 less 100 charged and 50 held.
    expect(outcomes).toEqual([insufficient(key.id, -110n), settled()]);
    await expectCounters(opened.store, { [key.id]: { debits: 145n }, [alice.id]: { credits: 500n, debits: 145n } });
    await opened.close();
  });
}

function describeLoweredBudget(open: OpenLedgerStore): void {
  test("a budget lowered below the held amount leaves an open hold its amount, and no more", async () => {
    const opened = await booked(open);
    await opened.store.putAccount({ ...key, maxBudget: 40n }, noon);
    expect(await opened.store.commit([settle("open", 60n)])).toEqual([settled(10n)]);
    await expectCounters(opened.store, { [key.id]: { debits: 150n }, [alice.id]: { credits: 500n, debits: 150n } });
    await expectCleanBooks(opened.store);
    await opened.close();
  });
}

function describeCommits(open: OpenLedgerStore): void {
  test("a commit answers in the order asked, and a refusal leaves its neighbours alone", async () => {
    const opened = await booked(open);
    const outcomes = await opened.store.commit([
      hold("a", key.id, 300n),
      hold("b", key.id, 300n),
      settle("b", 1n),
      hold("c", key.id, 50n),
      settle("a", 10n),
      hold("d", key.id, 340n),
    ]);
    expect(outcomes).toEqual([
      held,
      insufficient(alice.id, 50n),
      { outcome: "no-hold" },
      held,
      settled(),
      insufficient(alice.id, 290n),
    ]);
    await expectCleanBooks(opened.store);
    await opened.close();
  });

  test("a commit that fails half way has applied nothing, and the store goes on", async () => {
    const opened = await booked(open);
    // No caller asks for a negative hold; the schema refuses it.
    const failing = async (): Promise<unknown> =>
      opened.store.commit([hold("a", key.id, 10n), settle("open", 1n), hold("negative", key.id, -1n)]);
    const reason = await failing().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(reason).toBeInstanceOf(Error);
    expect((await opened.store.openHolds()).map(({ id }) => id)).toEqual(["open"]);
    expect(await stateOf(opened.store, key.id)).toMatchObject({ debitsPosted: 100n, debitsPending: 50n });
    expect(await opened.store.commit([hold("a", key.id, 10n), grant("some", alice.id, 1n)])).toEqual([held, granted]);
    await expectCleanBooks(opened.store);
    await opened.close();
  });

  test("an empty commit is no commit", async () => {
    const opened = await booked(open);
    expect(await opened.store.commit([])).toEqual([]);
    await opened.close();
  });

  test("of holds that several connections ask for, exactly as many are held as there is room for", async () => {
    const opened = await booked(open);
    const stores = [opened.store, await opened.connectAgain(), await opened.connectAgain()];
    // 350 of the 500 credits are free: room for exactly 35 holds of 10.
    const asked = Array.from({ length: 60 }, async (_, index) => {
      const store = stores[index % stores.length] ?? opened.store;
      return store.commit([hold(`h${index}`, key.id, 10n)]);
    });
    const outcomes = (await Promise.all(asked)).flat();
    expect(outcomes.filter(({ outcome }) => outcome === "held")).toHaveLength(35);
    expect(outcomes.filter(({ outcome }) => outcome === "insufficient")).toHaveLength(25);
    await expectCounters(opened.store, { [alice.id]: { credits: 500n, debits: 100n, pending: 400n } });
    for (const store of stores) await expectCleanBooks(store);
    await opened.close();
  });

  test("a hold of one connection is settled by another one", async () => {
    const opened = await booked(open);
    const other = await opened.connectAgain();
    expect(await other.commit([settle("open", 20n), settle("charged", 100n)])).toEqual([
      settled(),
      { outcome: "exists", shortfall: 0n },
    ]);
    await expectCounters(opened.store, { [alice.id]: { credits: 500n, debits: 120n } });
    await opened.close();
  });
}

export function describeBooks(open: OpenLedgerStore): void {
  describeEntries(open);
  describeAudit(open);
  describeAccounts(open);
  describeLoweredBudget(open);
  describeCommits(open);
}
