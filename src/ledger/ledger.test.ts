import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { GatewayError, limits, type Calendar } from "../core/index.ts";
import type { Storage } from "../storage/index.ts";
import { openStorage } from "../../test/kit/storage.ts";
import { Ledger } from "./ledger.ts";
import type { Hold, LedgerOperation, LedgerOutcome, Settle } from "./operations.ts";
import { openLedgerStore } from "./sql/open.ts";
import type { AuditReport, LedgerBooks } from "./books.ts";
import type { LedgerStore } from "./store.ts";

const account = {
  id: "user:u",
  kind: "user",
  name: "u",
  parentId: undefined,
  prepaid: false,
  maxBudget: undefined,
  period: undefined,
} as const;

const hold = (id: string): Hold => ({
  kind: "hold",
  id,
  accountId: account.id,
  amount: 10n,
  operation: "chat",
  provider: "up",
  model: "m",
  dialect: undefined,
  streamed: false,
  at: 1,
  leaseUntil: 9,
});
const settle = (id: string): Settle => ({ kind: "settle", id, amount: 4n, at: 2 });

/** A real store that counts its commits, and can be delayed or made to fail. */
class WatchedStore implements LedgerStore {
  readonly commits: string[][] = [];
  gate: Promise<void> | undefined;
  failure: Error | undefined;
  outcomesKept = Number.POSITIVE_INFINITY;
  readonly calendar: Calendar;
  readonly books: LedgerBooks;
  readonly #store: LedgerStore;

  constructor(store: LedgerStore) {
    this.calendar = store.calendar;
    this.books = store.books;
    this.#store = store;
  }

  async commit(operations: readonly LedgerOperation[]): Promise<LedgerOutcome[]> {
    this.commits.push(
      operations.map((operation) => ("id" in operation ? `${operation.kind} ${operation.id}` : operation.kind)),
    );
    await this.gate;
    if (this.failure !== undefined) throw this.failure;
    return (await this.#store.commit(operations)).slice(0, this.outcomesKept);
  }

  takenKey: LedgerStore["takenKey"] = (key) => this.#store.takenKey(key);
  createAccount: LedgerStore["createAccount"] = (each, at) => this.#store.createAccount(each, at);
  putAccount: LedgerStore["putAccount"] = (each, at) => this.#store.putAccount(each, at);
  chain: LedgerStore["chain"] = (id, at) => this.#store.chain(id, at);
  listAccounts: LedgerStore["listAccounts"] = (at) => this.#store.listAccounts(at);
  openHolds: LedgerStore["openHolds"] = () => this.#store.openHolds();
  audit = (): Promise<AuditReport> => this.#store.audit();
}

let storage: Storage;
let store: WatchedStore;
let ledger: Ledger;

beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
  store = new WatchedStore(openLedgerStore(storage));
  ledger = new Ledger({ store });
  await store.putAccount(account, 1);
});
afterEach(() => storage.close());

/** Runs the event loop until `condition` holds: no clock, no guess. */
async function turnsUntil(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000 && !condition(); turn += 1)
    await new Promise<void>((resolve) => setImmediate(resolve));
  expect(condition()).toBe(true);
}

async function refusalOf(promise: Promise<unknown>): Promise<GatewayError> {
  const reason: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(reason instanceof GatewayError)) throw new Error(`no refusal: ${String(reason)}`);
  return reason;
}

/** Delays the commit of one operation, so that all others must queue behind it. */
async function holdUp(): Promise<{ first: Promise<unknown>; letGo: () => void }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  store.gate = promise;
  const first = ledger.submit(hold("first"));
  await turnsUntil(() => store.commits.length === 1);
  return { first, letGo: resolve };
}

describe("commits are shared", () => {
  test("all operations submitted in one turn of the event loop go into one commit, in order", async () => {
    const submitted = Array.from({ length: 500 }, (_, index) => ledger.submit(hold(`h${index}`)));
    const outcomes = await Promise.all(submitted);
    expect(outcomes).toEqual(submitted.map(() => ({ outcome: "held" })));
    expect(store.commits).toEqual([submitted.map((_, index) => `hold h${index}`)]);
  });

  test("operations that arrive during a commit are collected for the next", async () => {
    const { first, letGo } = await holdUp();
    const later = [
      ledger.submit(hold("a")),
      ledger.submit(settle("first")),
      ledger.submit(hold("b")),
      ledger.submit(settle("a")),
    ];
    letGo();
    expect(await first).toEqual({ outcome: "held" });
    expect((await Promise.all(later)).map(({ outcome }) => outcome)).toEqual(["held", "settled", "held", "settled"]);
    expect(store.commits).toEqual([["hold first"], ["hold a", "settle first", "hold b", "settle a"]]);
  });

  test("each caller gets the outcome of its own operation", async () => {
    const outcomes = await Promise.all([
      ledger.submit(hold("a")),
      ledger.submit(settle("nothing")),
      ledger.submit({ kind: "renew", id: "a", leaseUntil: 99, observed: undefined }),
      ledger.submit({ kind: "release", id: "a", at: 2 }),
      ledger.submit({ kind: "sweep", at: 0 }),
      ledger.submit({ kind: "grant", id: "g", accountId: "user:nobody", amount: 1n, at: 1 }),
    ]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      "held",
      "no-hold",
      "renewed",
      "released",
      "swept",
      "no-account",
    ]);
    expect(store.commits).toHaveLength(1);
  });

  test("no commit is longer than the bound, and none is out of order", async () => {
    const total = 2 * limits.ledgerBatchMax + 500;
    await Promise.all(Array.from({ length: total }, (_, index) => ledger.submit(hold(`h${index}`))));
    expect(store.commits.map((commit) => commit.length)).toEqual([limits.ledgerBatchMax, limits.ledgerBatchMax, 500]);
    expect(store.commits.flat()).toEqual(Array.from({ length: total }, (_, index) => `hold h${index}`));
  });

  test("no commit has more bytes of answers than the bound, but for a single larger one", async () => {
    const kept = (id: string, bytes: number): Settle => {
      return { ...settle(id), answer: { status: 200, headers: [], body: new Uint8Array(bytes) } };
    };
    const half = limits.ledgerBatchBytesMax / 2;
    const answers = { a: half, b: half, c: 1, d: 3 * half, e: 0, f: half } as const;
    const ids = Object.keys(answers);
    await Promise.all(ids.map((id) => ledger.submit(hold(id))));
    await Promise.all(Object.entries(answers).map(([id, bytes]) => ledger.submit(kept(id, bytes))));
    expect(store.commits.slice(1)).toEqual([
      ["settle a", "settle b"],
      ["settle c"],
      ["settle d"],
      ["settle e", "settle f"],
    ]);
  });

  test("with many open holds, a few operations briefly wait for others, and a single one does not wait forever", async () => {
    await Promise.all(Array.from({ length: 400 }, (_, index) => ledger.submit(hold(`h${index}`))));
    const before = store.commits.length;
    const first = ledger.submit(settle("h0"));
    // Two turns later, still within the same commit: a quarter of 400 open calls could share it.
    await new Promise<void>((resolve) => setImmediate(resolve));
    await new Promise<void>((resolve) => setImmediate(resolve));
    const second = ledger.submit(settle("h1"));
    await Promise.all([first, second]);
    expect(store.commits.slice(before)).toEqual([["settle h0", "settle h1"]]);
  });

  test("afterwards the ledger is at rest: the next operation is committed alone", async () => {
    await ledger.submit(hold("a"));
    await ledger.submit(settle("a"));
    expect(store.commits).toEqual([["hold a"], ["settle a"]]);
  });
});

describe("a full queue", () => {
  test("refuses holds with 429 and accepts everything that ends, renews or raises one", async () => {
    ledger = new Ledger({ store, queueMax: 2 });
    const { first, letGo } = await holdUp();
    const queued = [ledger.submit(hold("a")), ledger.submit(hold("b"))];
    const refusal = await refusalOf(ledger.submit(hold("c")));
    expect(refusal).toMatchObject({ code: "ledger_busy", status: 429, retryAfterSeconds: 1 });
    const ends = [
      ledger.submit(settle("first")),
      ledger.submit({ kind: "release", id: "a", at: 2 }),
      ledger.submit({ kind: "renew", id: "b", leaseUntil: 99, observed: 1n }),
      ledger.submit({ kind: "top-up", id: "b", amount: 11n, at: 2 }),
      ledger.submit({ kind: "sweep", at: 0 }),
      ledger.submit({ kind: "grant", id: "g", accountId: account.id, amount: 1n, at: 1 }),
    ];
    letGo();
    const outcomes = await Promise.all([first, ...queued, ...ends] as Promise<{ outcome: string }>[]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      "held",
      "held",
      "held",
      "settled",
      "released",
      "renewed",
      "raised",
      "swept",
      "granted",
    ]);
    // The refused operation left nothing behind.
    expect((await store.openHolds()).map(({ id }) => id)).toEqual(["b"]);
  });

  test("takes holds again once it has drained", async () => {
    ledger = new Ledger({ store, queueMax: 1 });
    const { first, letGo } = await holdUp();
    const queued = ledger.submit(hold("a"));
    expect((await refusalOf(ledger.submit(hold("b")))).code).toBe("ledger_busy");
    letGo();
    await Promise.all([first, queued]);
    expect(await ledger.submit(hold("b"))).toEqual({ outcome: "held" });
  });
});

describe("a store that fails", () => {
  test("rejects all operations of the commit with 503, and works again afterwards", async () => {
    store.failure = new Error("disk full");
    const refusals = await Promise.all([refusalOf(ledger.submit(hold("a"))), refusalOf(ledger.submit(settle("b")))]);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({
        code: "storage_unavailable",
        status: 503,
        retryAfterSeconds: 1,
        cause: store.failure,
      });
      // The store's message is only for the log.
      expect(refusal.message).not.toContain("disk full");
    }
    store.failure = undefined;
    expect(await ledger.submit(hold("a"))).toEqual({ outcome: "held" });
    expect(await store.audit()).toMatchObject({ openHolds: 1, drifts: [] });
  });

  test("fails only the failed commits: queued operations are committed", async () => {
    const { first, letGo } = await holdUp();
    const queued = ledger.submit(hold("a"));
    store.failure = new Error("disk full");
    letGo();
    expect((await refusalOf(first)).code).toBe("storage_unavailable");
    store.failure = undefined;
    expect(await queued).toEqual({ outcome: "held" });
  });

  test("that throws before it returns a promise rejects in the same way", async () => {
    const throwing: LedgerStore = Object.assign(Object.create(store) as LedgerStore, {
      commit: () => {
        throw new Error("closed");
      },
    });
    const refusal = await refusalOf(new Ledger({ store: throwing }).submit(hold("a")));
    expect(refusal.code).toBe("storage_unavailable");
  });

  test("that returns too few outcomes fails only the operations without one", async () => {
    store.outcomesKept = 1;
    const [answered, unanswered] = await Promise.allSettled([ledger.submit(hold("a")), ledger.submit(hold("b"))]);
    expect(answered).toEqual({ status: "fulfilled", value: { outcome: "held" } });
    expect(unanswered).toMatchObject({ status: "rejected", reason: { message: "the store gave no outcome for hold" } });
  });
});

describe("after a failed commit", () => {
  let now: number;

  beforeEach(() => {
    now = 0;
    ledger = new Ledger({ store, clock: () => now });
  });

  /** Fails one commit, after `milliseconds`. */
  async function failOne(operation: LedgerOperation, milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    store.gate = promise;
    store.failure = new Error("deadlock detected");
    const failed = refusalOf(ledger.submit(operation));
    await turnsUntil(() => store.commits.length === 1);
    now += milliseconds;
    resolve();
    expect((await failed).code).toBe("storage_unavailable");
    store.failure = undefined;
    store.gate = undefined;
  }

  /** Begins the next commit and leaves it running. */
  async function tryNext(): Promise<{ next: Promise<LedgerOutcome>; letGo: () => void }> {
    const { promise, resolve } = Promise.withResolvers<void>();
    store.gate = promise;
    const next = ledger.submit(hold("next"));
    await turnsUntil(() => store.commits.length === 2);
    return { next, letGo: resolve };
  }

  const idle = [0, 14_999];
  test.each(idle)(
    "at once, and %p ms without operations: operations during the next commit are committed",
    async (milliseconds) => {
      await failOne({ kind: "sweep", at: 0 }, 999);
      now += milliseconds;
      const { next, letGo } = await tryNext();
      const waves = ["a", "b", "c"].map((id) => ledger.submit(hold(id)));
      letGo();
      const outcomes = await Promise.all([next, ...waves]);
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(["held", "held", "held", "held"]);
      expect((await store.openHolds()).map(({ id }) => id)).toEqual(["a", "b", "c", "next"]);
    },
  );

  test("at once, repeatedly: each failure affects only its own operations", async () => {
    store.failure = new Error("connection refused");
    const ids = ["a", "b", "c"];
    for (const id of ids) expect((await refusalOf(ledger.submit(hold(id)))).cause).toBe(store.failure);
    expect(store.commits).toEqual(ids.map((id) => [`hold ${id}`]));
  });

  test("after a delayed failure: holds during the next commit are refused at once, ends are not", async () => {
    await failOne(settle("nothing"), 1_000);
    now += 999;
    const { next, letGo } = await tryNext();
    const refusal = await refusalOf(ledger.submit(hold("a")));
    expect(refusal).toMatchObject({ code: "storage_unavailable", status: 503, retryAfterSeconds: 1 });
    // It was never sent, so nothing has to be released.
    expect(refusal.cause).toBeUndefined();
    const end = ledger.submit(settle("next"));
    letGo();
    expect([(await next).outcome, (await end).outcome]).toEqual(["held", "settled"]);
    expect(await ledger.submit(hold("a"))).toEqual({ outcome: "held" });
  });

  test("after a delayed failure, and a second without operations: holds wait for the next commit", async () => {
    await failOne({ kind: "renew", id: "x", leaseUntil: 9, observed: undefined }, 2_500);
    now += 1_000;
    const { next, letGo } = await tryNext();
    const queued = ledger.submit(hold("a"));
    letGo();
    expect([await next, await queued]).toEqual([{ outcome: "held" }, { outcome: "held" }]);
  });
});

describe("flush", () => {
  test("waits for everything submitted so far, and for operations submitted while it waits", async () => {
    const { first, letGo } = await holdUp();
    const queued = ledger.submit(settle("first"));
    let flushed = false;
    const flushAll = async (): Promise<void> => {
      await ledger.flush();
      flushed = true;
    };
    const flush = flushAll();
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(flushed).toBe(false);
    const late = ledger.submit(hold("late"));
    letGo();
    await flush;
    expect(store.commits.flat()).toEqual(["hold first", "settle first", "hold late"]);
    expect((await store.openHolds()).map(({ id }) => id)).toEqual(["late"]);
    await Promise.all([first, queued, late]);
  });

  test("of an idle ledger resolves at once", async () => {
    await ledger.flush();
    expect(store.commits).toEqual([]);
  });

  test("does not fail if the store does", async () => {
    store.failure = new Error("disk full");
    const lost = refusalOf(ledger.submit(hold("a")));
    await ledger.flush();
    expect((await lost).code).toBe("storage_unavailable");
  });
});

test("an operation that the store cannot store fails alone", async () => {
  const taken: string[] = [];
  const picky = openLedgerStore(await openStorage("sqlite::memory:"));
  const commit = picky.commit.bind(picky);
  picky.commit = (operations) => {
    if (operations.some((operation) => "id" in operation && operation.id === "bad"))
      throw new RangeError("out of range");
    taken.push(...operations.map((operation) => ("id" in operation ? operation.id : "")));
    return commit(operations);
  };
  const own = new Ledger({ store: picky });
  const release = (id: string) => own.submit({ kind: "release", id, at: 1 });
  const ends = await Promise.allSettled(["a", "b", "bad", "c", "d"].map(release));
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect(ends[2]).toMatchObject({ reason: { code: "internal_error" } });
  expect(taken).toEqual(["a", "b", "c", "d"]);
});
