/**
 * Both functions of a commit on Postgres end alike: batches that the plain one takes as a whole, and the same operations
 * one by one through the general one.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type Account,
  type CallRecord,
  type Hold,
  type HoldKeeper,
  type LedgerOperation,
  type LedgerStore,
  openLedgerStore,
  plainCommit,
} from "../../src/ledger/index.ts";
import type { PostgresStorage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";
import { until } from "../kit/until.ts";

const RUNS = 30;
const CREDITS = 3_000n;
const START = Date.UTC(2026, 5, 15, 12);

const RECORD: CallRecord = {
  owner: "u",
  operation: "chat",
  dialect: "chat",
  provider: "up",
  model: "m",
  streamed: false,
  status: 200,
  outcome: "complete",
  usage: { input: 3, output: 1 },
  milliseconds: 1.5,
  millisecondsToFirstByte: 0.5,
  startedAt: START,
};

let server: PostgresServer;
let whole: PostgresStorage;
let single: PostgresStorage;

beforeAll(async () => {
  server = await startPostgres();
  [whole, single] = [await openDatabase(), await openDatabase()];
});
afterAll(async () => {
  await whole.close();
  await single.close();
  await server.stop();
});

async function openDatabase(): Promise<PostgresStorage> {
  const url = await server.createDatabase();
  const setup = await openStorage(url);
  if (setup.engine !== "postgres") throw new Error("this is no Postgres");
  await setup.statements.run(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET track_functions = 'pl'`);
  await setup.close();
  const storage = await openStorage(url);
  if (storage.engine !== "postgres") throw new Error("this is no Postgres");
  return storage;
}

const rates: fc.Arbitrary<Hold["rates"]> = fc.record(
  {
    requestsPerMinute: fc.integer({ min: 5, max: 40 }),
    tokensPerMinute: fc.integer({ min: 100, max: 900 }),
    concurrentCalls: fc.integer({ min: 3, max: 20 }),
  },
  { requiredKeys: [] },
);

type Step = { later: number; amount: bigint; tokens: number } & (
  | { do: "hold"; token: number; rates: Hold["rates"]; ofUser: Hold["rates"]; parent: string | undefined }
  | { do: "settle" | "release" | "renew" | "top-up" | "park"; call: number; keeper: HoldKeeper | undefined }
);

/** Within a batch the clock goes on too. */
const later = fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 25_000);

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("hold" as const),
    later,
    token: fc.nat(2),
    amount: fc.bigInt(20n, 60n),
    tokens: fc.nat(20),
    rates: fc.option(rates, { nil: undefined, freq: 2 }),
    ofUser: fc.oneof(
      { weight: 3, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.record({ requestsPerMinute: fc.integer({ min: 15, max: 120 }) }) },
      { weight: 1, arbitrary: fc.record({ tokensPerMinute: fc.integer({ min: 300, max: 2_700 }) }) },
      { weight: 1, arbitrary: fc.record({ concurrentCalls: fc.integer({ min: 9, max: 60 }) }) },
    ),
    parent: fc.constantFrom(undefined, "series"),
  }),
  fc.record({
    do: fc.constantFrom(...(["settle", "settle", "release", "renew", "top-up", "park"] as const)),
    later,
    call: fc.nat(100),
    amount: fc.bigInt(0n, 20n),
    tokens: fc.nat(30),
    keeper: fc.constantFrom(undefined, "job", "process"),
  }),
);

/** Each is one commit; the clock goes on in between, sometimes past the end of a minute, sometimes back. */
const batches = fc.array(
  fc.record({
    wait: fc.constantFrom(0, 1, 1, 20_000, 61_000, -5_000),
    steps: fc.array(step, { minLength: 1, maxLength: 12 }),
  }),
  { minLength: 3, maxLength: 20 },
);

const account = (kind: Account["kind"], name: string, parentId: string | undefined): Account => ({
  id: `${kind}:${name}`,
  kind,
  name,
  parentId,
  prepaid: kind === "user",
  maxBudget: undefined,
  period: undefined,
});

/** A user with three tokens in both databases, and the calls that are open. */
class Run {
  readonly #name: string;
  readonly #whole = openLedgerStore(whole);
  #now = START;
  #calls = 0;
  #open: { id: string; amount: bigint }[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  async open(): Promise<void> {
    const user = account("user", this.#name, undefined);
    const tokens = [0, 1, 2].map((index) => account("token", `${this.#name}-${index}`, user.id));
    for (const store of [this.#whole, openLedgerStore(single)]) {
      for (const each of [user, ...tokens]) await store.putAccount(each, this.#now);
      const grant = {
        kind: "grant",
        id: `g-${this.#name}`,
        accountId: user.id,
        amount: CREDITS,
        at: this.#now,
      } as const;
      await store.commit([grant]);
      // From here on the chains are known.
      await store.commit(tokens.map(({ id }) => ({ ...this.#hold(id, 1n), id: `first-${id}` })));
    }
  }

  #hold(accountId: string, amount: bigint): Hold {
    const [at, leaseUntil] = [this.#now, this.#now + 1_000_000];
    return {
      kind: "hold",
      id: "",
      accountId,
      amount,
      operation: "chat",
      provider: "up",
      model: "m",
      dialect: undefined,
      streamed: false,
      at,
      leaseUntil,
    };
  }

  async batch(wait: number, steps: readonly Step[]): Promise<void> {
    this.#now += wait;
    const before = [...this.#open];
    const operations = steps.flatMap((each) => this.#operation(each, before));
    const together = await this.#whole.commit(operations);
    for (const [index, operation] of operations.entries()) {
      // A store that remembers nothing: the general function.
      expect([together[index]]).toEqual(await openLedgerStore({ ...single }).commit([operation]));
      const isHeld = operation.kind === "hold" && together[index]?.outcome === "held";
      if (isHeld) this.#open.push({ id: operation.id, amount: operation.amount });
    }
  }

  /** Nothing if no call is open; an open call is used once in a batch. */
  #operation(each: Step, open: { id: string; amount: bigint }[]): LedgerOperation[] {
    this.#now += each.later;
    const at = this.#now;
    if (each.do === "hold") {
      this.#calls += 1;
      const hold = this.#hold(`token:${this.#name}-${each.token}`, each.amount);
      const id = `${this.#name}-${this.#calls}`;
      const { parent, ofUser } = each;
      const limited = { ...(each.rates && { rates: each.rates }), ...(ofUser && { ratesAbove: [ofUser] }) };
      const options = { ...limited, ...(parent !== undefined && { parent }) };
      return [{ ...hold, id, tokens: each.tokens, ...options }];
    }
    const [call] = open.splice(each.call % Math.max(1, open.length), 1);
    if (call === undefined) return [];
    const { id } = call;
    if (each.do === "renew") {
      const handed = each.keeper && { keeper: each.keeper };
      return [{ kind: "renew", id, leaseUntil: at + 2_000_000, observed: each.amount, ...handed }];
    }
    if (each.do === "park") {
      const job = { id, kind: "k", owner: 'o"(', payload: { parked: '",\\ü' }, runAt: at, createdAt: at };
      const lease = each.keeper && { token: "t", node: "n", until: at };
      return [{ kind: "park", id, leaseUntil: at + 3_000_000, job: { ...job, lease } }];
    }
    if (each.do === "top-up") {
      call.amount += each.amount;
      return [{ kind: "top-up", id, amount: call.amount, at }];
    }
    this.#open = this.#open.filter((other) => other !== call);
    if (each.do === "release") return [{ kind: "release", id, at }];
    return [{ kind: "settle", id, amount: each.amount, at, tokens: each.tokens }];
  }

  async compare(): Promise<void> {
    const rows = await Promise.all(
      [whole, single].map(({ statements }) =>
        statements.run<Record<string, unknown>>(
          `SELECT a.*, (SELECT jsonb_agg(h ORDER BY h.id) FROM holds h WHERE h.account_id = a.id) AS open,
            (SELECT jsonb_agg(j ORDER BY j.id) FROM jobs j JOIN holds h ON h.id = j.id WHERE h.account_id = a.id) AS parked,
            (SELECT jsonb_agg(e ORDER BY e.id) FROM entries e WHERE e.debit_account = a.id) AS ended
          FROM accounts a WHERE a.name LIKE '${this.#name}%' ORDER BY a.id`,
        ),
      ),
    );
    expect([...(rows[0] ?? [])]).toEqual([...(rows[1] ?? [])]);
  }
}

async function callsOf({ statements }: PostgresStorage, name: string): Promise<number> {
  const rows = await statements.run<{ calls: bigint }>("SELECT calls FROM pg_stat_user_functions WHERE funcname = $1", [
    name,
  ]);
  return Number(rows[0]?.calls ?? 0n);
}

describe("a plain batch", () => {
  const at = START;
  const token = account("token", "odd", "user:odd");
  const hold = (id: string, model = "m"): Hold => ({
    kind: "hold",
    id,
    accountId: token.id,
    amount: 5n,
    operation: "chat",
    provider: "up",
    model,
    dialect: undefined,
    streamed: false,
    at,
    leaseUntil: at + 1_000,
  });
  let store: LedgerStore;

  beforeAll(async () => {
    store = openLedgerStore(whole);
    for (const each of [account("user", "odd", undefined), token]) await store.putAccount(each, at);
    await store.commit([{ kind: "grant", id: "g-odd", accountId: "user:odd", amount: CREDITS, at }]);
    // From here on the chain is known.
    await store.commit([hold("odd"), { kind: "release", id: "odd", at }]);
  });

  test("writes any text as it is", async () => {
    const texts = [
      "",
      " ",
      " a ",
      "a,b",
      "(a)",
      '"',
      '""',
      "\\",
      '\\"',
      "{a}",
      "NULL",
      "it's",
      "a\n\tb",
      "a\u001fb",
      "🦊",
      "\uffff",
    ];
    const holds = texts.map((text, index) => hold(`odd-text-${index}`, text));
    const held = await store.commit(holds);
    expect(new Set(held.map(({ outcome }) => outcome))).toEqual(new Set(["held"]));
    const open = new Map((await store.openHolds()).map(({ id, description }) => [id, description]));
    expect(holds.map(({ id }) => open.get(id))).toEqual(texts.map((text) => `chat up/${text}`));

    const settles = texts.map((model, index): LedgerOperation => {
      const dialect = index % 2 === 0 ? RECORD.dialect : undefined;
      const record = {
        ...RECORD,
        owner: model,
        model,
        dialect,
        millisecondsToFirstByte: index === 0 ? undefined : 0.5,
      };
      return { kind: "settle", id: `odd-text-${index}`, amount: 1n, at, record };
    });
    await store.commit(settles);
    const rows = await whole.statements.run<{ id: string; owner: string; model: string; dialect: string | null }>(
      "SELECT id, owner, model, dialect FROM generations WHERE id LIKE 'odd-text-%'",
    );
    const written = new Map(rows.map(({ id, owner, model, dialect }) => [id, { owner, model, dialect }]));
    expect(texts.map((_, index) => written.get(`odd-text-${index}`))).toEqual(
      texts.map((text, index) => ({ owner: text, model: text, dialect: index % 2 === 0 ? "chat" : null })),
    );
  });

  test("takes no hold whose id has ended, at any position among the others", async () => {
    const ids = ["odd-1", "odd-2", "odd-🦊", "odd-\uffff", "odd-3"];
    for (const ended of ids) {
      const own = ids.map((id) => `${ended}-${id}`);
      const id = `${ended}-${ended}`;
      await store.commit([hold(id)]);
      await store.commit([{ kind: "release", id, at }]);
      const outcomes = await store.commit(own.map((each) => hold(each)));
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(own.map((each) => (each === id ? "exists" : "held")));
      expect(await store.commit(own.map((each) => ({ kind: "release", id: each, at })))).toEqual(
        own.map((each) => ({ outcome: each === id ? "exists" : "released" })),
      );
    }
    expect(await store.audit()).toMatchObject({ drifts: [] });
  });

  test("is taken with an entry of another call between its ids", async () => {
    await store.commit([hold("odd-b")]);
    await store.commit([{ kind: "release", id: "odd-b", at }]);
    const outcomes = await store.commit([hold("odd-c"), hold("odd-a")]);
    expect(outcomes).toEqual([{ outcome: "held" }, { outcome: "held" }]);
    expect(await store.commit([{ kind: "release", id: "odd-c", at }, hold("odd-b", "again")])).toEqual([
      { outcome: "released" },
      { outcome: "exists" },
    ]);
  });
});

test("random batches end alike, whichever function takes them", async () => {
  let runs = 0;
  let commits = 0;
  const property = fc.asyncProperty(batches, async (each) => {
    runs += 1;
    const run = new Run(`run${runs}x`);
    await run.open();
    for (const { wait, steps } of each) {
      await run.batch(wait, steps);
      commits += 1;
    }
    await run.compare();
  });
  await fc.assert(property, { numRuns: RUNS });
  for (const storage of [whole, single]) expect((await openLedgerStore(storage).audit()).drifts).toEqual([]);

  // Enough batches were plain: else this has compared one function with itself. An idle connection hands its statistics
  // over after 10 s, and batches without an open call have nothing to commit: a quarter is asked for, not the most.
  await until(
    "the plain function has taken enough batches",
    async () => {
      const [plain, general] = [await callsOf(whole, plainCommit), await callsOf(whole, "ledger_commit")];
      return plain > commits / 4 && general - 2 * runs < plain;
    },
    15_000,
  );
});
