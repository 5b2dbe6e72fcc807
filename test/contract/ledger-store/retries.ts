/** A call that is sent again: it is answered as the first time, held once, and its key is free when nothing was kept. */
import { expect, test } from "bun:test";
import { limits } from "../../../src/core/index.ts";
import type { StoredAnswer } from "../../../src/ledger/index.ts";
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
  type OpenedLedgerStore,
  type OpenLedgerStore,
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
  settledBefore,
  sweep,
  swept,
  testCases,
  token,
  topUp,
  user,
} from "./world.ts";

const alice = user("alice", { prepaid: true });
const key = token("key", { parentId: alice.id });
const other = token("other", { parentId: alice.id });

const answer: StoredAnswer = {
  status: 200,
  headers: [
    ["content-type", "application/json"],
    ["x-request-id", "a"],
  ],
  body: new TextEncoder().encode('{"said":"ünï"}'),
};

type Options = NonNullable<Parameters<typeof hold>[3]>;

/** A hold of ten for the token's call with the key `k`, by default from a body with the fingerprint `same`. */
const again = (id: string, at = noon, rest: Options = {}, fingerprint = "same") =>
  hold(id, key.id, 10n, { at, retry: { key: "k", fingerprint }, ...rest });
const changed = (id: string, at = noon) => again(id, at, {}, "changed");
const answered = (id: string, amount = 4n, at = noon) => settle(id, amount, at, { answer });

/** Alice's two tokens under a balance of 100. */
function retryCase(title: string, steps: LedgerCase["steps"], debits: bigint, open: string[] = []): LedgerCase {
  const pending = BigInt(open.length) * 10n;
  return {
    title,
    accounts: [alice, key, other],
    steps: [[grant("g", alice.id, 100n), granted], ...steps],
    after: { [alice.id]: { credits: 100n, debits, pending } },
    open,
  };
}

const running: LedgerCase[] = [
  retryCase(
    "while the first call runs, the second waits, and another body is a mismatch",
    [
      [again("a"), held],
      [again("b"), retryRunning],
      [changed("c"), retryMismatch],
      [topUp("a", 10n), exists],
    ],
    0n,
    ["a"],
  ),
  retryCase(
    "a call runs as long as its hold, however long that is",
    [
      [again("a"), held],
      [again("b", noon + 3 * limits.retryAnswerTtlMs), retryRunning],
      [changed("b", noon + 3 * limits.retryAnswerTtlMs), retryMismatch],
      [sweep(noon + 3 * limits.retryAnswerTtlMs), swept(0)],
      [again("b", noon + 3 * limits.retryAnswerTtlMs), retryRunning],
    ],
    0n,
    ["a"],
  ),
  retryCase(
    "the same hold again is no second call",
    [
      [again("a"), held],
      [again("a"), exists],
      [answered("a"), settled()],
      [again("a"), exists],
    ],
    4n,
  ),
  retryCase(
    "keys are apart, and so are accounts and calls without a key",
    [
      [again("a"), held],
      [again("b", noon, { retry: { key: "l", fingerprint: "same" } }), held],
      [hold("c", other.id, 10n, { retry: { key: "k", fingerprint: "changed" } }), held],
      [hold("d", key.id, 10n), held],
      [hold("e", alice.id, 10n, { retry: { key: "k", fingerprint: "same" } }), held],
    ],
    0n,
    ["a", "b", "c", "d", "e"],
  ),
];

const answers: LedgerCase[] = [
  retryCase(
    "an answer is given again, whatever it cost then, and nothing is held",
    [
      [again("a"), held],
      [answered("a", 7n), settled()],
      [again("b"), replayed("a", answer)],
      [again("b", noon + 1), replayed("a", answer)],
      [settle("b", 1n), { outcome: "no-hold" }],
    ],
    7n,
  ),
  retryCase(
    "another body under an answered key is a mismatch",
    [
      [again("a"), held],
      [answered("a"), settled()],
      [changed("b"), retryMismatch],
      [again("c"), replayed("a", answer)],
    ],
    4n,
  ),
  retryCase(
    "an answer is kept with a shortfall and a raised hold too",
    [
      [again("a"), held],
      [topUp("a", 20n), raised],
      [answered("a", 15n), settled()],
      [answered("a", 15n), settledBefore()],
      [again("b"), replayed("a", answer)],
    ],
    15n,
  ),
  retryCase(
    "an answer needs no room",
    [
      [again("a"), held],
      [answered("a", 100n), settled()],
      [again("b"), replayed("a", answer)],
      [hold("c", key.id, 1n), insufficient(alice.id, 0n)],
    ],
    100n,
  ),
  retryCase(
    "an answer needs no rate and counts as no call",
    [
      [
        again("a", noon, { tokens: 3, rates: { requestsPerMinute: 1 } }),
        heldAt({ requests: 1, tokens: 3, calls: 1, minuteEndsAt: noon + minute }),
      ],
      [again("b", noon, { rates: { requestsPerMinute: 1, concurrentCalls: 0 } }), retryRunning],
      [answered("a"), settled()],
      [again("b", noon, { tokens: 9, rates: { requestsPerMinute: 1 } }), replayed("a", answer)],
      [changed("c"), retryMismatch],
      [
        hold("d", key.id, 10n, { rates: { requestsPerMinute: 2 } }),
        heldAt({ requests: 2, tokens: 3, calls: 1, minuteEndsAt: noon + minute }),
      ],
    ],
    4n,
    ["d"],
  ),
  retryCase(
    "an answer is kept for a day after its call ended, that moment included",
    [
      [again("a"), held],
      [answered("a", 4n, noon + minute), settled()],
      [again("b", noon + minute + limits.retryAnswerTtlMs), replayed("a", answer)],
      [changed("b", noon + minute + limits.retryAnswerTtlMs), retryMismatch],
      [again("b", noon + minute + limits.retryAnswerTtlMs + 1), held],
      [again("c", noon + minute + limits.retryAnswerTtlMs + 1), retryRunning],
    ],
    4n,
    ["b"],
  ),
  retryCase(
    "after that day the key is new to any body, and keeps the new answer",
    [
      [again("a"), held],
      [answered("a"), settled()],
      [changed("b", noon + 2 * limits.retryAnswerTtlMs), held],
      [settle("b", 1n, noon + 2 * limits.retryAnswerTtlMs, { answer: { ...answer, status: 201 } }), settled()],
      [changed("c", noon + 2 * limits.retryAnswerTtlMs), replayed("b", { ...answer, status: 201 })],
    ],
    5n,
  ),
  retryCase(
    "an answer to a call without a key is kept nowhere",
    [
      [hold("a", key.id, 10n), held],
      [answered("a"), settled()],
      [again("b"), held],
    ],
    4n,
    ["b"],
  ),
];

const freed: LedgerCase[] = [
  retryCase(
    "a settlement without an answer frees the key",
    [
      [again("a"), held],
      [settle("a", 4n), settled()],
      [changed("b"), held],
    ],
    4n,
    ["b"],
  ),
  retryCase(
    "a release frees the key",
    [
      [again("a"), held],
      [release("a"), released],
      [changed("b"), held],
      [release("b"), released],
      [again("c"), held],
    ],
    0n,
    ["c"],
  ),
  retryCase(
    "an expiry frees the key, and a late answer is not kept",
    [
      [again("a", noon, { leaseUntil: noon }), held],
      [renew("a", noon, 3n), renewed],
      [sweep(noon + 1), swept(1)],
      [changed("b"), held],
      [answered("a"), settled()],
      [again("c"), retryMismatch],
      [release("b"), released],
      [again("c"), held],
    ],
    4n,
    ["c"],
  ),
  retryCase(
    "a late release leaves the key to the call that has it now",
    [
      [again("a", noon, { leaseUntil: noon }), held],
      [sweep(noon + 1), swept(1)],
      [again("b"), held],
      [release("a"), released],
      [again("c"), retryRunning],
    ],
    0n,
    ["b"],
  ),
  retryCase(
    "a refused hold claims nothing",
    [
      [again("a", noon, { rates: { concurrentCalls: 0 } }), limited("concurrentCalls", noCalls())],
      [hold("a", key.id, 101n, { retry: { key: "k", fingerprint: "same" } }), insufficient(alice.id, 100n)],
      [changed("b"), held],
    ],
    0n,
    ["b"],
  ),
];

function noCalls() {
  return { requests: 0, tokens: 0, calls: 0, minuteEndsAt: noon + minute };
}

async function opened(open: OpenLedgerStore): Promise<OpenedLedgerStore> {
  const each = await open();
  for (const account of [alice, key]) await each.store.putAccount(account, noon);
  await each.store.commit([grant("g", alice.id, 1_000n)]);
  return each;
}

const keysLeft = async ({ query }: OpenedLedgerStore): Promise<string[]> =>
  (await query("SELECT key FROM retry_keys ORDER BY key")).map((row) => String(row["key"]));

function describeForgetting(open: OpenLedgerStore): void {
  test("a sweep forgets answers past their day, and nothing else", async () => {
    const each = await opened(open);
    const keyed = (id: string) => again(id, noon, { retry: { key: `key-${id}`, fingerprint: "same" } });
    await each.store.commit([keyed("early"), keyed("late"), keyed("runs"), keyed("freed")]);
    await each.store.commit([answered("early"), settle("late", 1n, noon + minute, { answer }), release("freed")]);
    expect(await keysLeft(each)).toEqual(["key-early", "key-late", "key-runs"]);
    await each.store.commit([sweep(noon + limits.retryAnswerTtlMs)]);
    expect(await keysLeft(each)).toEqual(["key-early", "key-late", "key-runs"]);
    await each.store.commit([sweep(noon + limits.retryAnswerTtlMs + 1)]);
    expect(await keysLeft(each)).toEqual(["key-late", "key-runs"]);
    await each.store.commit([sweep(noon + 3 * limits.retryAnswerTtlMs)]);
    expect(await keysLeft(each)).toEqual(["key-runs"]);
    await each.close();
  });

  test("a claim whose hold ended without an answer is taken over, and swept in the end", async () => {
    const each = await opened(open);
    await each.store.commit([again("a")]);
    await each.query("DELETE FROM holds WHERE id = 'a'");
    expect(await each.store.commit([changed("b"), again("c")])).toEqual([held, retryMismatch]);
    await each.query("DELETE FROM holds WHERE id = 'b'");
    await each.store.commit([sweep(noon + 2 * limits.retryAnswerTtlMs)]);
    expect(await keysLeft(each)).toEqual([]);
    await each.close();
  });
}

function describeKeeping(open: OpenLedgerStore): void {
  test.each<[string, StoredAnswer]>([
    ["every byte", { status: 200, headers: [], body: Uint8Array.from({ length: 256 }, (_, byte) => byte) }],
    ["an empty body", { status: 204, headers: [["x", ""]], body: new Uint8Array() }],
    [
      "headers with their order, case and repetitions",
      {
        status: 429,
        headers: [
          ["B", "1"],
          ["a", 'quoted "x", \\ ünï'],
          ["B", "2"],
        ],
        body: Uint8Array.of(1),
      },
    ],
    ["a large body", { status: 200, headers: [], body: new Uint8Array(300_000).fill(7) }],
  ])("an answer is kept with %s, for other connections too", async (_title, kept) => {
    const each = await opened(open);
    const second = await each.connectAgain();
    await each.store.commit([again("a"), settle("a", 1n, noon, { answer: kept })]);
    for (const store of [each.store, second]) {
      const [outcome] = await store.commit([again("b")]);
      expect(outcome).toEqual(replayed("a", kept));
    }
    await each.close();
  });

  test("of calls with one key on several connections, one is taken, and its answer serves the rest", async () => {
    const each = await opened(open);
    const stores = [each.store, await each.connectAgain(), await each.connectAgain()];
    const ask = async (round: string): Promise<string[]> => {
      const asked = Array.from({ length: 12 }, async (_, index) =>
        (stores[index % stores.length] ?? each.store).commit([again(`${round}${index}`)]),
      );
      return (await Promise.all(asked)).flat().map(({ outcome }) => outcome);
    };
    const first = await ask("a");
    expect(first.filter((outcome) => outcome === "held")).toHaveLength(1);
    expect(first.filter((outcome) => outcome === "retry-running")).toHaveLength(11);
    const [taken] = await each.store.openHolds();
    await each.store.commit([answered(taken?.id ?? "", 4n)]);
    expect(new Set(await ask("b"))).toEqual(new Set(["replayed"]));
    expect(await each.store.chain(key.id, noon)).toMatchObject([{ debitsPosted: 4n, debitsPending: 0n }, {}]);
    await each.close();
  });

  test("a key can be looked up without a hold: it is free, in use, another body's, answered, and free again", async () => {
    const each = await opened(open);
    const lookUp = (at = noon, fingerprint = "same") =>
      each.store.takenKey({ accountId: key.id, retry: { key: "k", fingerprint }, at });
    const late = noon + limits.retryAnswerTtlMs + 1;
    expect(await lookUp()).toBeUndefined();
    await each.store.commit([again("a")]);
    expect((await lookUp())?.taken).toEqual(retryRunning);
    expect((await lookUp(noon, "changed"))?.taken).toEqual(retryMismatch);
    expect(await each.store.takenKey({ accountId: other.id, retry: { key: "k", fingerprint: "same" }, at: noon })).toBe(
      undefined,
    );
    const keep = { kind: "keep-answer", id: "a", accountId: key.id, key: "k", answer, until: late - 1 } as const;
    await each.store.commit([keep]);
    expect(await lookUp()).toEqual({ taken: replayed("a", answer), isRunning: true });
    await each.store.commit([release("a")]);
    expect(await lookUp()).toEqual({ taken: replayed("a", answer), isRunning: false });
    expect(await lookUp(late)).toBeUndefined();
    await each.close();
  });

  test("a commit that fails half way has claimed and kept nothing", async () => {
    const each = await opened(open);
    await each.store.commit([again("a")]);
    // No caller asks for a negative hold; the schema refuses it.
    const failing = async (): Promise<unknown> =>
      each.store.commit([
        answered("a"),
        again("b", noon, { retry: { key: "l", fingerprint: "same" } }),
        hold("negative", key.id, -1n),
      ]);
    const failure = await failing().then(
      () => "applied",
      () => "failed",
    );
    expect(failure).toBe("failed");
    expect(await each.store.commit([again("c")])).toEqual([retryRunning]);
    expect(await keysLeft(each)).toEqual(["k"]);
    await each.close();
  });
}

export function describeRetries(open: OpenLedgerStore): void {
  testCases(open, [...running, ...answers, ...freed]);
  describeKeeping(open);
  describeForgetting(open);
}
