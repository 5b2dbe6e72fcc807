/** A hold handed over to a job together with the job's row; and answers that are kept while their hold goes on. */
import { expect, test } from "bun:test";
import { limits } from "../../../src/core/index.ts";
import type { Settle, StoredAnswer } from "../../../src/ledger/index.ts";
import {
  conflict,
  day,
  ended,
  exists,
  expectCleanBooks,
  grant,
  granted,
  held,
  hold,
  keep,
  keepAnswer,
  kept,
  type LedgerCase,
  minute,
  noKey,
  noon,
  type OpenedLedgerStore,
  type OpenLedgerStore,
  park,
  parked,
  raised,
  release,
  released,
  renew,
  renewed,
  replayed,
  retryMismatch,
  retryRunning,
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

const answer: StoredAnswer = { status: 200, headers: [["a", "b"]], body: new TextEncoder().encode('{"id":"v"}') };
const other: StoredAnswer = { status: 201, headers: [], body: new Uint8Array() };

/** A hold of ten with the retry key `k`. */
const again = (id: string, at = noon, fingerprint = "same") =>
  hold(id, key.id, 10n, { at, retry: { key: "k", fingerprint } });

/** Under a balance of 100. */
function parkCase(title: string, steps: LedgerCase["steps"], debits: bigint, open: string[] = []): LedgerCase {
  return {
    title,
    accounts: [alice, key],
    steps: [[grant("g", alice.id, 100n), granted], ...steps],
    after: { [alice.id]: { credits: 100n, debits, pending: BigInt(open.length) * 10n } },
    open,
  };
}

const handOvers: LedgerCase[] = [
  parkCase(
    "a hold is handed over once, however often its process asks",
    [
      [hold("a", key.id, 10n), held],
      [park("a", noon + day), parked],
      [park("a", noon + day), exists],
      [park("a", noon + 2 * day), exists],
    ],
    0n,
    ["a"],
  ),
  parkCase(
    "a hold that has ended is handed over to nobody",
    [
      [hold("a", key.id, 10n), held],
      [settle("a", 4n), settled()],
      [park("a", noon + day), ended],
      [hold("b", key.id, 10n, { leaseUntil: noon }), held],
      [sweep(noon + 1), swept(1)],
      [park("b", noon + day), ended],
      [park("unknown", noon + day), ended],
    ],
    4n,
  ),
  parkCase(
    "a row that another hold's job has is not taken over",
    [
      [hold("a", key.id, 10n), held],
      [hold("b", key.id, 10n), held],
      [park("a", noon + day, { id: "job" }), parked],
      [park("b", noon + day, { id: "job" }), conflict],
    ],
    0n,
    ["a", "b"],
  ),
  parkCase(
    "a hold that its job lets run out is charged in full",
    [
      [hold("a", key.id, 10n), held],
      [park("a", noon + day), parked],
      [sweep(noon + day), swept(0)],
      [sweep(noon + day + 1), swept(1)],
      [park("a", noon + 3 * day), ended],
    ],
    10n,
  ),
  parkCase(
    "a parked hold is raised and ended like others, and a late renewal by its process takes nothing from the job",
    [
      [hold("a", key.id, 5n), held],
      [park("a", noon + day), parked],
      [topUp("a", 10n), raised],
      [keep("job", "a", noon + minute), renewed],
      [sweep(noon + 2 * minute), swept(0)],
      [settle("a", 7n), settled()],
    ],
    7n,
  ),
  parkCase(
    "a job that keeps a hold without a row in the table is not given one",
    [
      [hold("a", key.id, 10n), held],
      [keep("job", "a", noon + day), renewed],
      [park("a", noon + day), exists],
    ],
    0n,
    ["a"],
  ),
];

const answers: LedgerCase[] = [
  parkCase(
    "a parked call holds its key until its answer is stored, and is then answered again while it goes on",
    [
      [again("a"), held],
      [park("a", noon + day), parked],
      [again("b"), retryRunning],
      [keepAnswer("a", key.id, noon + day, answer), kept],
      [keepAnswer("a", key.id, noon + day, answer), kept],
      [again("b"), replayed("a", answer)],
      [again("b", noon, "changed"), retryMismatch],
      [again("a"), exists],
    ],
    0n,
    ["a"],
  ),
  parkCase(
    "an answer stored before outlives a settlement without one, and a release",
    [
      [again("a"), held],
      [keepAnswer("a", key.id, noon + day, answer), kept],
      [settle("a", 4n), settled()],
      [again("b"), replayed("a", answer)],
      [keepAnswer("a", key.id, noon), kept],
      [again("c", noon + 1), held],
      [keepAnswer("c", key.id, noon + day, other), kept],
      [release("c"), released],
      [again("d"), replayed("c", other)],
    ],
    4n,
  ),
  parkCase(
    "an expiry leaves a stored answer, too",
    [
      [again("a"), held],
      [park("a", noon + minute), parked],
      [keepAnswer("a", key.id, noon + day, answer), kept],
      [sweep(noon + 2 * minute), swept(1)],
      [again("b"), replayed("a", answer)],
    ],
    10n,
  ),
  parkCase(
    "the first answer stays, whatever is stored after it",
    [
      [again("a"), held],
      [keepAnswer("a", key.id, noon + day, answer), kept],
      [keepAnswer("a", key.id, noon + day, other), kept],
      [again("b"), replayed("a", answer)],
      [settle("a", 4n, noon, { answer: other }), settled()],
      [keepAnswer("a", key.id, noon + day, other), kept],
      [again("b"), replayed("a", answer)],
    ],
    4n,
  ),
  parkCase(
    "an answer lives as long as it was told, whether its hold goes on or not",
    [
      [again("a"), held],
      [settle("a", 0n, noon, { answer, answerUntil: noon + 3 * day }), settled()],
      [sweep(noon + 3 * day), swept(0)],
      [again("b", noon + 3 * day), replayed("a", answer)],
      [keepAnswer("a", key.id, noon + minute), kept],
      [again("b", noon + minute), replayed("a", answer)],
      [again("b", noon + minute + 1), held],
      [keepAnswer("b", key.id, noon + 2 * minute, other), kept],
      [again("c", noon + 2 * minute), replayed("b", other)],
      [again("c", noon + 2 * minute + 1), held],
      // Its key is another call's by now.
      [keepAnswer("b", key.id, noon + day, other), noKey],
      [settle("b", 4n), settled()],
      [again("d", noon + day), retryRunning],
    ],
    4n,
    ["c"],
  ),
  parkCase(
    "a time that has passed frees the key",
    [
      [again("a"), held],
      [keepAnswer("a", key.id, noon + day, answer), kept],
      [settle("a", 0n), settled()],
      [keepAnswer("a", key.id, noon - 1), kept],
      [again("b", noon, "changed"), held],
    ],
    0n,
    ["b"],
  ),
  parkCase(
    "nothing is kept without a key of the hold's own, nor after a call that gave no answer",
    [
      [keepAnswer("a", key.id, noon + day, answer), noKey],
      [hold("a", key.id, 10n), held],
      [keepAnswer("a", key.id, noon + day, answer), noKey],
      [again("b"), held],
      [keepAnswer("b", key.id, noon + day), noKey],
      [keepAnswer("b", alice.id, noon + day, answer), noKey],
      [keepAnswer("a", key.id, noon + day, answer), noKey],
      [again("c"), retryRunning],
      [settle("b", 1n), settled()],
      [keepAnswer("b", key.id, noon + day, answer), noKey],
      [again("c"), held],
    ],
    1n,
    ["a", "c"],
  ),
  parkCase(
    "two calls with one key beside the answer that is stored for the first",
    [
      [again("a"), held],
      [again("b"), retryRunning],
      [keepAnswer("a", key.id, noon + day, answer), kept],
      [again("c"), replayed("a", answer)],
      [renew("a", noon + day), renewed],
    ],
    0n,
    ["a"],
  ),
];

async function opened(open: OpenLedgerStore): Promise<OpenedLedgerStore> {
  const each = await open();
  for (const account of [alice, key]) await each.store.putAccount(account, noon);
  await each.store.commit([grant("g", alice.id, 1_000n)]);
  return each;
}

const jobsOf = async ({ query }: OpenedLedgerStore) => [...(await query("SELECT * FROM jobs ORDER BY id"))];

function describeRows(open: OpenLedgerStore): void {
  test("the job's row has what was handed over, with a lease and without, in the commit of the hold too", async () => {
    const each = await opened(open);
    const lease = { token: "t", node: 'n"(,', until: noon + 9 };
    const payload = { text: '"\\(,{ü}', list: [1, null] };
    await each.store.commit([hold("b", key.id, 10n), hold("c", key.id, 10n)]);
    const steps = [park("b", noon + day, { payload, lease, runAt: noon + 5 }), park("c", noon + day)];
    // The first holds are known to this store; a hold and its hand-over in one commit take Postgres' general function.
    expect(await each.store.commit(steps)).toEqual([parked, parked]);
    expect(await each.store.commit([hold("a", key.id, 10n), park("a", noon + day, { payload })])).toEqual([
      held,
      parked,
    ]);
    const row = { kind: "video", owner: "alice", attempts: 0n, created_at: BigInt(noon), run_at: BigInt(noon) };
    const free = { lease_token: null, lease_node: null, lease_until: null };
    expect(await jobsOf(each)).toEqual([
      { ...row, ...free, id: "a", payload: JSON.stringify(payload) },
      {
        ...row,
        id: "b",
        payload: JSON.stringify(payload),
        run_at: BigInt(noon + 5),
        lease_token: "t",
        lease_node: 'n"(,',
        lease_until: BigInt(noon + 9),
      },
      { ...row, ...free, id: "c", payload: '{"of":"c"}' },
    ]);
    expect(await each.store.openHolds()).toMatchObject(
      ["a", "b", "c"].map((id) => ({ id, keeper: "job", leaseUntil: noon + day })),
    );
    await each.close();
  });

  test("a commit that fails half way leaves neither a row nor another keeper, and one after it does both", async () => {
    const each = await opened(open);
    await each.store.commit([again("a")]);
    // No caller asks for a negative hold; the schema refuses it.
    const failing = async (): Promise<unknown> =>
      each.store.commit([
        park("a", noon + day),
        keepAnswer("a", key.id, noon + day, answer),
        hold("negative", key.id, -1n),
      ]);
    expect(
      await failing().then(
        () => "applied",
        () => "failed",
      ),
    ).toBe("failed");
    expect(await jobsOf(each)).toEqual([]);
    expect(await each.store.openHolds()).toMatchObject([{ keeper: "process" }]);
    expect(await each.store.commit([again("b"), park("a", noon + day)])).toEqual([retryRunning, parked]);
    expect(await jobsOf(each)).toHaveLength(1);
    await each.close();
  });

  test("of processes that hand one hold over, or end it, at once, one is first, and no row is left without its hold", async () => {
    const each = await opened(open);
    const stores = [each.store, await each.connectAgain(), await each.connectAgain()];
    for (let round = 0; round < 8; round += 1) {
      const id = `round-${round}`;
      await each.store.commit([hold(id, key.id, 10n)]);
      const end: Settle = settle(id, 1n);
      const asked = stores.map(async (store, index) =>
        store.commit([index === round % 3 ? end : park(id, noon + day)]),
      );
      const outcomes = (await Promise.all(asked)).flat().map(({ outcome }) => outcome);
      const parks = outcomes.filter((outcome) => outcome === "parked").length;
      expect(outcomes.filter((outcome) => outcome === "settled")).toHaveLength(1);
      expect(parks).toBeLessThanOrEqual(1);
      expect((await jobsOf(each)).filter((row) => row["id"] === id)).toHaveLength(parks);
    }
    expect(await each.store.openHolds()).toEqual([]);
    await expectCleanBooks(each.store);
    await each.close();
  });

  test("another process answers again, and ends, what was parked by the first", async () => {
    const each = await opened(open);
    const second = await each.connectAgain();
    await each.store.commit([again("a")]);
    await each.store.commit([park("a", noon + day)]);
    expect(await second.commit([keepAnswer("a", key.id, noon + day, answer), again("b")])).toEqual([
      kept,
      replayed("a", answer),
    ]);
    expect(await second.commit([settle("a", 4n)])).toEqual([settled()]);
    expect(await each.store.commit([again("c"), park("a", noon + day)])).toEqual([replayed("a", answer), ended]);
    await expectCleanBooks(each.store);
    await each.close();
  });

  test("a sweep forgets an answer whose time is over, though its hold goes on", async () => {
    const each = await opened(open);
    await each.store.commit([again("a"), park("a", noon + 9 * day), keepAnswer("a", key.id, noon + minute, answer)]);
    await each.store.commit([sweep(noon + minute)]);
    expect(await each.query("SELECT key FROM retry_keys")).toHaveLength(1);
    await each.store.commit([sweep(noon + minute + 1)]);
    expect(await each.query("SELECT key FROM retry_keys")).toHaveLength(0);
    expect(await each.store.commit([settle("a", 1n, noon + limits.retryAnswerTtlMs, { answer })])).toEqual([settled()]);
    expect(await each.store.commit([again("b", noon + limits.retryAnswerTtlMs)])).toEqual([held]);
    await each.close();
  });
}

export function describeParking(open: OpenLedgerStore): void {
  testCases(open, [...handOvers, ...answers]);
  describeRows(open);
}
