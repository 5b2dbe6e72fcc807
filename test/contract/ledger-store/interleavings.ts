/** Random interleavings of everything the ledger can do, against the ledger on paper. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { RateLimits } from "../../../src/core/index.ts";
import type {
  Account,
  CallRecord,
  Hold,
  HoldKeeper,
  StoredAnswer,
  LedgerOperation,
  LedgerStore,
  OpenHold,
  Renew,
} from "../../../src/ledger/index.ts";
import { type PaperGeneration, type PaperKey, PaperLedger } from "./model.ts";
import { budgetRows, day, hold, minute, type OpenedLedgerStore, type OpenLedgerStore, park, sweep } from "./world.ts";

/** Two users under one organisation, one on their own, a service without limits: chains of one, two and three links. */
const shape = [
  { kind: "organisation", name: "org", parent: undefined, prepaid: false },
  { kind: "user", name: "ann", parent: "organisation:org", prepaid: true },
  { kind: "user", name: "ben", parent: "organisation:org", prepaid: true },
  { kind: "user", name: "eve", parent: undefined, prepaid: true },
  { kind: "token", name: "ann-1", parent: "user:ann", prepaid: false },
  { kind: "token", name: "ann-2", parent: "user:ann", prepaid: false },
  { kind: "token", name: "ben-1", parent: "user:ben", prepaid: false },
  { kind: "token", name: "eve-1", parent: "user:eve", prepaid: false },
  { kind: "token", name: "service", parent: undefined, prepaid: false },
] as const;

/** The place in `shape` of the token that is used most, `ann-1`. */
const busiest = 4;

/** Budgets that stand beside some of the chains, by the globs of their models: calls begin at one provider and are moved to two others. */
const budgetsShape = [
  { name: "all", owner: "organisation:org", models: undefined },
  { name: "openai", owner: "organisation:org", models: ["openai/*", "google/m"] },
  { name: "moved", owner: "user:ann", models: ["anthropic/*"] },
  { name: "own", owner: "token:ann-1", models: ["*_model", "*-model", "goo%/*"] },
] as const;

/** How many of the latest calls a step may be about. */
const latestCalls = 5;

/** The names of one run's rows: many runs share a store. */
type Rename = (id: string) => string;

interface Limit {
  maxBudget: bigint | undefined;
  period: Account["period"];
}

const limit: fc.Arbitrary<Limit> = fc.record({
  maxBudget: fc.option(fc.bigInt(0n, 1_000n), { nil: undefined, freq: 2 }),
  period: fc.constantFrom("daily", "monthly", undefined),
});

type BudgetLimit = Pick<Account, "period" | "periodFrom" | "raisedBy"> & { maxBudget: bigint; raisedFor: number };

/** None in some runs, which end by the plain commits. */
const budgetLimits: fc.Arbitrary<BudgetLimit[]> = fc.oneof(
  fc.constant<BudgetLimit[]>([]),
  fc.array(
    fc.record({
      maxBudget: fc.bigInt(0n, 600n),
      period: fc.constantFrom("daily", "weekly", "monthly", "quarterly", undefined),
      periodFrom: fc.constantFrom(undefined, 1, 2, 7),
      raisedBy: fc.constantFrom(undefined, 100n),
      raisedFor: fc.constantFrom(day, 30 * day),
    }),
    { minLength: budgetsShape.length, maxLength: budgetsShape.length },
  ),
);

/** By how often they are drawn. The first ones are those of the known runs. */
const earlierKinds = [
  ...(["hold", "hold", "hold", "top-up", "settle", "settle", "release", "renew", "renew", "grant"] as const),
  ...(["park", "keep-answer"] as const),
];
const allKinds = [...earlierKinds, "take-back", "refund", "refund", "move", "move"] as const;

interface OperationStep {
  do: (typeof allKinds)[number];
  /** How far back the id is that it has in common with an earlier step; a hold far back is a new one. */
  back: number;
  account: number;
  amount: bigint;
  lease: number;
  checkpoint: boolean;
  keeper: HoldKeeper | undefined;
  parent: string | undefined;
  rates: RateLimits | undefined;
  ratesAbove: RateLimits[] | undefined;
  tokens: number | undefined;
  /** Few keys, each with one of two bodies. */
  retry: { key: number; body: number } | undefined;
  recorded: boolean;
  answered: boolean;
}

type Step =
  | OperationStep
  | { do: "sweep" }
  | { do: "wait"; milliseconds: number }
  | { do: "limit"; account: number; maxBudget: bigint | undefined };

const rates: fc.Arbitrary<RateLimits> = fc.record(
  { requestsPerMinute: fc.nat(8), tokensPerMinute: fc.nat(150), concurrentCalls: fc.nat(5) },
  { requiredKeys: [] },
);

/** Operations that meet often: again, with other fields, after the end. */
const operationStep = (kinds: typeof earlierKinds | typeof allKinds): fc.Arbitrary<OperationStep> =>
  fc.record({
    do: fc.constantFrom(...kinds),
    back: fc.nat(9),
    account: fc.oneof(fc.constant(busiest), fc.nat(shape.length)),
    amount: fc.oneof(fc.bigInt(0n, 200n), fc.constantFrom(0n, 1n, 50n, 100n)),
    lease: fc.nat(10),
    checkpoint: fc.boolean(),
    keeper: fc.constantFrom("process", "job", "job", undefined),
    parent: fc.constantFrom(undefined, undefined, "series-1", "series-2"),
    rates: fc.option(rates, { nil: undefined, freq: 2 }),
    ratesAbove: fc.option(fc.array(rates, { minLength: 1, maxLength: 2 }), { nil: undefined, freq: 2 }),
    tokens: fc.option(fc.nat(40), { nil: undefined }),
    retry: fc.option(fc.record({ key: fc.nat(1), body: fc.nat(1) }), { nil: undefined, freq: 3 }),
    recorded: fc.boolean(),
    answered: fc.boolean(),
  });

const step = (kinds: typeof earlierKinds | typeof allKinds): fc.Arbitrary<Step> =>
  fc.oneof(
    { weight: 14, arbitrary: operationStep(kinds) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("sweep" as const) }) },
    {
      weight: 3,
      // Also back: clocks are set, and nodes disagree.
      arbitrary: fc.record({
        do: fc.constant("wait" as const),
        milliseconds: fc.constantFrom(
          1,
          minute / 2,
          minute,
          5 * minute,
          11 * 60 * minute,
          day,
          20 * day,
          -minute,
          -day,
        ),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant("limit" as const),
        account: fc.nat(shape.length - 1),
        maxBudget: fc.option(fc.bigInt(0n, 1_000n), { nil: undefined, freq: 2 }),
      }),
    },
  );

/** Batches: each is one commit. */
const batches = (kinds: typeof earlierKinds | typeof allKinds) =>
  fc.array(fc.array(step(kinds), { minLength: 1, maxLength: 6, size: "max" }), {
    minLength: 1,
    maxLength: 20,
    size: "max",
  });
const limits = fc.array(limit, { minLength: shape.length, maxLength: shape.length });
const start = fc.constantFrom(
  Date.UTC(2026, 1, 28, 23, 50),
  Date.UTC(2026, 5, 15, 12),
  Date.UTC(2026, 11, 31, 23, 59, 59),
);

function accountOf(index: number, { maxBudget, period }: Limit, rename: Rename): Account {
  const { kind, name, parent, prepaid } = shape[index] ?? shape[0];
  return { id: rename(`${kind}:${name}`), kind, name, parentId: parent && rename(parent), prepaid, maxBudget, period };
}

function amountOf(amount: bigint): bigint {
  return amount === 0n ? 1n : amount;
}

/** One more account than there are: sometimes the account is missing. */
function accountId(index: number, rename: Rename): string {
  const place = shape[index];
  return rename(place === undefined ? "token:nobody" : `${place.kind}:${place.name}`);
}

const answer: StoredAnswer = { status: 200, headers: [["content-type", "text/plain"]], body: Uint8Array.of(1, 2, 3) };

function recordOf(each: OperationStep, at: number): CallRecord {
  return {
    owner: `caller-${each.account}`,
    operation: "chat",
    dialect: undefined,
    provider: "openai",
    model: "some-model",
    streamed: each.checkpoint,
    status: 200,
    outcome: each.checkpoint ? "complete" : "interrupted",
    usage: { input: each.lease },
    milliseconds: 1.5,
    millisecondsToFirstByte: undefined,
    startedAt: at,
    ...(each.parent !== undefined && { parent: each.parent }),
  };
}

type CallOptions = Pick<Hold, "rates" | "ratesAbove" | "tokens" | "retry" | "parent" | "isPart">;

function callOptions({ rates: limited, ratesAbove, tokens, retry, parent }: OperationStep): CallOptions {
  return {
    ...(limited && { rates: limited }),
    ...(ratesAbove && { ratesAbove }),
    ...(tokens !== undefined && { tokens }),
    ...(parent !== undefined && { parent }),
    ...(parent === "series-2" && { isPart: true }),
    ...(retry && { retry: { key: `key-${retry.key}`, fingerprint: `body-${retry.body}` } }),
  };
}

function renewal(id: string, leaseUntil: number, { checkpoint, amount, keeper }: OperationStep): Renew {
  const observed = checkpoint ? amount : undefined;
  return { kind: "renew", id, leaseUntil, observed, ...(keeper && { keeper }) };
}

/** The fields of an open hold that both sides have. */
const openHold = ({ id, amount, observed, leaseUntil, keeper, description }: OpenHold) => ({
  description,
  id,
  amount,
  observed,
  leaseUntil,
  keeper,
});

const posting = { actor: "cli:tester", reason: "a test" };

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

const byId = (a: { id: string }, b: { id: string }): number => a.id.localeCompare(b.id);
const byKey = (a: PaperKey, b: PaperKey): number => a.account.localeCompare(b.account) || a.key.localeCompare(b.key);

/** A store beside the paper, taken through the same steps. */
class Run {
  readonly #paper = new PaperLedger();
  readonly #store: LedgerStore;
  readonly #query: OpenedLedgerStore["query"];
  readonly #prefix: string;
  readonly #rename: Rename;
  readonly #limits: readonly Limit[];
  /** Ids of the holds that were asked for. */
  readonly #calls: string[] = [];
  readonly #budgetIds: string[] = [];
  #now: number;
  #grants = 0;
  #leases = 0;

  constructor({ store, query }: OpenedLedgerStore, prefix: string, runLimits: readonly Limit[], now: number) {
    this.#store = store;
    this.#query = query;
    this.#prefix = prefix;
    this.#rename = (id) => prefix + id;
    this.#limits = runLimits;
    this.#now = now;
  }

  async open(): Promise<void> {
    for (const [index, each] of this.#limits.entries()) await this.#put(accountOf(index, each, this.#rename));
    const users = shape.filter(({ prepaid }) => prepaid).map(({ kind, name }) => this.#rename(`${kind}:${name}`));
    const grants = users.map(
      (id) => ({ kind: "grant", id: `${id}/first`, accountId: id, amount: 300n, at: this.#now }) as const,
    );
    for (const grant of grants) this.#paper.apply(grant);
    await this.#store.commit(grants);
  }

  async openBudgets(all: readonly BudgetLimit[]): Promise<void> {
    for (const [index, { raisedFor, ...own }] of all.entries()) {
      const { name, owner, models } = budgetsShape[index] ?? budgetsShape[0];
      const id = this.#rename(name);
      const raisedUntil = own.raisedBy === undefined ? undefined : this.#now + raisedFor;
      const kind = { id: `budget:${id}`, kind: "budget", name: id, parentId: undefined, prepaid: false } as const;
      const account: Account = { ...kind, ...own, raisedUntil };
      this.#budgetIds.push(account.id);
      this.#paper.putBudget({ account, owner: this.#rename(owner), models });
      for (const statement of budgetRows({ id, accountId: this.#rename(owner) }, models)) await this.#query(statement);
      await this.#store.putAccount(account, this.#now);
    }
  }

  async #put(account: Account): Promise<void> {
    this.#paper.put(account);
    await this.#store.putAccount(account, this.#now);
  }

  async batch(steps: readonly Step[]): Promise<void> {
    const operations: LedgerOperation[] = [];
    for (const each of steps) {
      if (each.do === "wait") this.#now += each.milliseconds;
      else if (each.do === "limit") await this.#put(this.#limited(each.account, each.maxBudget));
      else operations.push(this.#operation(each));
    }
    const expected = operations.map((operation) => this.#paper.apply(operation));
    expect(await this.#store.commit(operations)).toEqual(expected);
  }

  /** Of ten holds seven are new, the others reuse an earlier id; other operations refer to one of the latest holds. */
  #callId({ do: what, back }: OperationStep): string {
    if (what !== "hold") return this.#calls.at(-1 - (back % Math.min(latestCalls, this.#calls.length))) ?? "no-call";
    const before = back < 3 ? this.#calls.at(-1 - back) : undefined;
    if (before !== undefined) return before;
    const id = `call-${this.#calls.length}`;
    this.#calls.push(id);
    return id;
  }

  #grantId(back: number): string {
    if (back >= 3) this.#grants += 1;
    return `grant-${this.#grants}`;
  }

  #limited(index: number, maxBudget: bigint | undefined): Account {
    return accountOf(index, { maxBudget, period: this.#limits[index]?.period }, this.#rename);
  }

  #operation(each: Exclude<Step, { do: "wait" | "limit" }>): LedgerOperation {
    const at = this.#now;
    if (each.do === "sweep") return sweep(at);
    const isGrant = each.do === "grant" || each.do === "take-back";
    const id = this.#rename(isGrant ? this.#grantId(each.back) : this.#callId(each));
    // No two leases end at the same time, so the order in which holds expire is fixed.
    this.#leases += 1;
    const leaseUntil = at + each.lease * minute + this.#leases;
    const accountOfStep = accountId(each.account, this.#rename);
    const recorded = each.recorded ? { record: recordOf(each, at) } : {};
    switch (each.do) {
      case "hold":
        return hold(id, accountOfStep, each.amount, { at, leaseUntil, ...callOptions(each) });
      case "top-up":
        return { kind: "top-up", id, amount: each.amount, at };
      case "move":
        return {
          kind: "move",
          id,
          amount: each.amount,
          at,
          provider: each.answered ? "anthropic" : "google",
          model: "m",
        };
      case "settle": {
        const { tokens } = each;
        const until = each.checkpoint && { answerUntil: leaseUntil };
        const told = { ...(tokens !== undefined && { tokens }), ...(each.answered && { answer, ...until }) };
        return { kind: "settle", id, amount: each.amount, at, ...told, ...recorded };
      }
      case "release":
        return { kind: "release", id, at, ...recorded };
      case "renew":
        return renewal(id, leaseUntil, each);
      case "park":
        // Rarely the row of another hold's job.
        return park(id, leaseUntil, each.account === 0 ? { id: this.#rename("job") } : {});
      case "keep-answer": {
        const key = `key-${each.retry?.key ?? 0}`;
        return {
          kind: "keep-answer",
          id,
          accountId: accountOfStep,
          key,
          until: leaseUntil,
          ...(each.answered && { answer }),
        };
      }
      case "grant":
        return { kind: "grant", id, accountId: accountOfStep, amount: amountOf(each.amount), at, ...posting };
      case "take-back":
        return { kind: "grant", id, accountId: accountOfStep, amount: -amountOf(each.amount), at, ...posting };
      case "refund":
        return { kind: "refund", id, at, ...posting };
    }
  }

  /** The figures of both are the same, the books are clean, and no prepaid balance was overdrawn. */
  async compare(): Promise<void> {
    for (const index of this.#limits.keys()) {
      const id = accountId(index, this.#rename);
      const [state] = await this.#store.chain(id, this.#now);
      expect(state).toEqual(this.#paper.state(id, this.#now));
      if (state?.prepaid === true)
        expect(state.creditsPosted - state.debitsPosted - state.debitsPending).toBeGreaterThanOrEqual(0n);
    }
    for (const id of this.#budgetIds) {
      const [state] = await this.#store.chain(id, this.#now);
      expect(state).toEqual(this.#paper.state(id, this.#now));
    }
    const open = (await this.#store.openHolds()).map(openHold);
    const onPaper = this.#paper.openHolds().map(openHold);
    expect(open.toSorted(byId)).toEqual(onPaper.toSorted(byId));
    expect((await this.#generations()).toSorted(byId)).toEqual(this.#paper.generations().toSorted(byId));
    expect(new Map(await this.#jobs())).toEqual(new Map(this.#paper.jobs()));
    expect((await this.#keys()).toSorted(byKey)).toEqual(this.#paper.keys().toSorted(byKey));
  }

  async #jobs(): Promise<[string, string][]> {
    const rows = await this.#query(`SELECT id, payload FROM jobs WHERE id LIKE '${this.#prefix}%' ORDER BY id`);
    return rows.map((row) => [String(row["id"]), String(row["payload"])]);
  }

  async #generations(): Promise<PaperGeneration[]> {
    const rows = await this.#query(`SELECT * FROM generations WHERE id LIKE '${this.#prefix}%'`);
    return rows.map((row) => ({
      id: String(row["id"]),
      account: String(row["account_id"]),
      owner: String(row["owner"]),
      outcome: String(row["outcome"]),
      credits: BigInt(String(row["credits"])),
      startedAt: Number(row["started_at"]),
      parent: textOf(row["parent"]),
    }));
  }

  async #keys(): Promise<PaperKey[]> {
    const rows = await this.#query(`SELECT * FROM retry_keys WHERE account_id LIKE '${this.#prefix}%'`);
    return rows.map((row) => ({
      account: String(row["account_id"]),
      key: String(row["key"]),
      holdId: String(row["hold_id"]),
      answered: row["status"] !== null,
    }));
  }

  /** Ends all open holds, so that the next run finds only its own. Returns the shortfall of this run. */
  async finish(): Promise<bigint> {
    this.#now += 1_000 * day;
    await this.batch([{ do: "sweep" }]);
    await this.compare();
    expect(await this.#store.openHolds()).toEqual([]);
    return this.#paper.shortfall();
  }
}

/** Runs that once failed: clocks that went back over a day left a budget and its books in different periods. */
const knownRuns: readonly { seed?: number; numRuns: number; kinds?: typeof earlierKinds }[] = [
  { seed: -1_330_387_869, numRuns: 37, kinds: earlierKinds },
];

/** Runs that share a store. Each audits all of it: with more, the runs take longer and longer. */
const runsOfStore = 100;

export function describeInterleavings(open: OpenLedgerStore, runs: number): void {
  const runsOf: typeof knownRuns = [...knownRuns, { numRuns: runs }];
  test.each([...runsOf])(
    "random interleavings end like the ledger on paper: %o",
    async ({ kinds = allKinds, numRuns, seed }) => {
      for (let left = numRuns; left > 0; left -= runsOfStore) {
        await interleave(open, kinds, { numRuns: Math.min(left, runsOfStore), ...(seed !== undefined && { seed }) });
      }
    },
  );
}

async function interleave(
  open: OpenLedgerStore,
  kinds: typeof earlierKinds | typeof allKinds,
  which: { seed?: number; numRuns: number },
): Promise<void> {
  const opened = await open();
  const { store, close } = opened;
  let count = 0;
  let shortfall = 0n;
  const budgets = kinds === earlierKinds ? fc.constant([]) : budgetLimits;
  const property = fc.asyncProperty(start, limits, batches(kinds), budgets, async (now, runLimits, commits, beside) => {
    count += 1;
    const prefix = `run-${count}/`;
    const before = (await store.audit()).shortfall;
    const run = new Run(opened, prefix, runLimits, now);
    await run.open();
    await run.openBudgets(beside);
    try {
      for (const steps of commits) await run.batch(steps);
      await run.compare();
      shortfall = await run.finish();
    } catch (thrown) {
      // A failing run is shrunk on the same store: its open holds must not reach into the next attempt.
      await store.commit([sweep(Number.MAX_SAFE_INTEGER)]);
      throw thrown;
    }
    const report = await store.audit();
    // A failing run leaves its accounts: they must not fail the runs that shrink it.
    expect(report.drifts.filter((drift) => drift.accountId.startsWith(prefix))).toEqual([]);
    expect(report.shortfall - before).toBe(shortfall);
  });
  await fc.assert(property, which);
  await close();
}
