/** Random interleavings of everything the ledger can do, against the ledger on paper. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Account, LedgerOperation, LedgerStore } from "../../../src/ledger/index.ts";
import { PaperLedger } from "./model.ts";
import { day, hold, minute, type OpenLedgerStore, sweep } from "./world.ts";

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

/** The names of one run's rows: many runs share a store. */
type Rename = (id: string) => string;

interface Limit {
  maxBudget: bigint | undefined;
  period: Account["period"];
}

const limit: fc.Arbitrary<Limit> = fc.record({
  maxBudget: fc.option(fc.bigInt(0n, 400n), { nil: undefined }),
  period: fc.constantFrom("daily", "monthly", undefined),
});

type Step =
  | {
      do: "hold" | "settle" | "release" | "renew" | "grant";
      id: number;
      account: number;
      amount: bigint;
      lease: number;
      checkpoint: boolean;
    }
  | { do: "sweep" }
  | { do: "wait"; milliseconds: number }
  | { do: "limit"; account: number; maxBudget: bigint | undefined };

/** Few ids, so that operations meet: again, with other fields, after the end. */
const operationStep = fc.record({
  do: fc.constantFrom("hold", "hold", "settle", "settle", "release", "renew", "grant"),
  id: fc.nat(11),
  account: fc.nat(shape.length),
  amount: fc.oneof(fc.bigInt(0n, 200n), fc.constantFrom(0n, 1n, 50n, 100n)),
  lease: fc.nat(10),
  checkpoint: fc.boolean(),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 14, arbitrary: operationStep },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("sweep" as const) }) },
  {
    weight: 3,
    // Also back: clocks are set, and nodes disagree.
    arbitrary: fc.record({
      do: fc.constant("wait" as const),
      milliseconds: fc.constantFrom(1, minute, 5 * minute, 11 * 60 * minute, day, 20 * day, -minute, -day),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("limit" as const),
      account: fc.nat(shape.length - 1),
      maxBudget: fc.option(fc.bigInt(0n, 400n), { nil: undefined }),
    }),
  },
);

/** Batches: each is one commit. */
const batches = fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 25 });
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

/** A store beside the paper, taken through the same steps. */
class Run {
  readonly #paper = new PaperLedger();
  readonly #store: LedgerStore;
  readonly #rename: Rename;
  readonly #limits: readonly Limit[];
  #now: number;
  #leases = 0;

  constructor(store: LedgerStore, rename: Rename, runLimits: readonly Limit[], now: number) {
    this.#store = store;
    this.#rename = rename;
    this.#limits = runLimits;
    this.#now = now;
  }

  async open(): Promise<void> {
    for (const [index, each] of this.#limits.entries()) await this.#put(accountOf(index, each, this.#rename));
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

  #limited(index: number, maxBudget: bigint | undefined): Account {
    return accountOf(index, { maxBudget, period: this.#limits[index]?.period }, this.#rename);
  }

  #operation(each: Exclude<Step, { do: "wait" | "limit" }>): LedgerOperation {
    const at = this.#now;
    if (each.do === "sweep") return sweep(at);
    const id = this.#rename(`${each.do === "grant" ? "grant" : "call"}-${each.id}`);
    // No two leases end at once, so that the order in which holds expire is given.
    this.#leases += 1;
    const leaseUntil = at + each.lease * minute + this.#leases;
    const accountOfStep = accountId(each.account, this.#rename);
    switch (each.do) {
      case "hold":
        return hold(id, accountOfStep, each.amount, { at, leaseUntil });
      case "settle":
        return { kind: "settle", id, amount: each.amount, at };
      case "release":
        return { kind: "release", id, at };
      case "renew":
        return { kind: "renew", id, leaseUntil, observed: each.checkpoint ? each.amount : undefined };
      case "grant":
        return { kind: "grant", id, accountId: accountOfStep, amount: amountOf(each.amount), at };
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
    const open = (await this.#store.openHolds()).map(({ id, amount, observed, leaseUntil }) => ({
      id,
      amount,
      observed,
      leaseUntil,
    }));
    const onPaper = this.#paper
      .openHolds()
      .map(({ id, amount, observed, leaseUntil }) => ({ id, amount, observed, leaseUntil }));
    const byId = (a: { id: string }, b: { id: string }): number => a.id.localeCompare(b.id);
    expect(open.toSorted(byId)).toEqual(onPaper.toSorted(byId));
  }

  /** Ends what is open, so that the next run finds no holds but its own. Gives back the shortfall of this run. */
  async finish(): Promise<bigint> {
    this.#now += 1_000 * day;
    await this.batch([{ do: "sweep" }]);
    await this.compare();
    expect(await this.#store.openHolds()).toEqual([]);
    return this.#paper.shortfall();
  }
}

export function describeInterleavings(open: OpenLedgerStore, runs: number): void {
  test(`${runs} random interleavings end like the ledger on paper`, async () => {
    const { store, close } = await open();
    let count = 0;
    let shortfall = 0n;
    const property = fc.asyncProperty(start, limits, batches, async (now, runLimits, commits) => {
      count += 1;
      const prefix = `run-${count}/`;
      const before = (await store.audit()).shortfall;
      const run = new Run(store, (id) => prefix + id, runLimits, now);
      await run.open();
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
      expect(report.drifts).toEqual([]);
      expect(report.shortfall - before).toBe(shortfall);
    });
    await fc.assert(property, { numRuns: runs });
    await close();
  }, 60_000);
}
