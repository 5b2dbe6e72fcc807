import { jest } from "bun:test";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GatewayError, type ObservedUsage } from "../../core/index.ts";
import {
  type CallRecord,
  Ledger,
  type LedgerOperation,
  type LedgerOutcome,
  type LedgerStore,
  openLedgerStore,
} from "../../ledger/index.ts";
import { type ModelPrice, PriceBook } from "../../pricing/index.ts";
import type { SqliteStorage } from "../../storage/index.ts";
import { openStorage } from "../../../test/kit/storage.ts";
import { Ticker } from "../../streaming/index.ts";
import type { WorkDependencies } from "../dependencies.ts";
import { EndJournal } from "../end-journal.ts";
import { openWork } from "../open-work.ts";
import type { CommitReport, WorkReport } from "../observers/work-observer.ts";
import type { WorkOrder, WorkOwner } from "../work-order.ts";
import { Work, type WorkEnd } from "../work.ts";

export const tickMs = 1_000;
export const account = {
  id: "user:u",
  kind: "user",
  name: "u",
  parentId: undefined,
  prepaid: true,
  maxBudget: undefined,
  period: undefined,
} as const;
/** The credits granted to the account. */
export const credits = 1_000_000n;

const book = new PriceBook({
  operatorPrices: {
    "up/*": { input_mtok: 1, output_mtok: 2, web_searches_kcount: 0.1 },
    "window/*": { input_mtok: 1, output_mtok: 2, context_window: 1_000, max_output_tokens: 100 },
    "dear/*": { input_mtok: 1, cache_write_mtok: 3, output_mtok: 2, output_reasoning_mtok: 5, requests_kcount: 4 },
  },
  unpriced: "refuse",
  clock: () => 0,
});

export function priceOf(prefix: "up" | "window" | "dear"): ModelPrice {
  const price = book.lookup({ id: `${prefix}/m`, model: "m", priceProvider: undefined });
  if (price === undefined) throw new Error("no price");
  return price;
}

type OrderOverrides = Partial<WorkOrder & Pick<WorkOwner, "accountId" | "rates">>;

/** 100 tokens in by now, and 50 out, at 1,000 and 2,000 nano-credits each: it holds `heldByOrder`. */
export const orderOf = ({ accountId = account.id, rates, ...overrides }: OrderOverrides = {}): WorkOrder => ({
  id: "req_1",
  principal: { user: "u", tokenId: "t1", accountId, rates },
  operation: "chat",
  dialect: "chat",
  source: { provider: "up", model: "m", modelId: "alias/m" },
  price: priceOf("up"),
  bound: { inputTokens: 100, isGrowing: true, outputTokens: 50, choices: 1 },
  streamed: false,
  at: 1_000_000,
  ...overrides,
});
export const heldByOrder = 200_000n;

/** The record of a call and its end. */
export const record = (overrides: Partial<CallRecord> = {}): CallRecord => ({
  owner: "u",
  operation: "chat",
  dialect: "chat",
  provider: "up",
  model: "m",
  streamed: false,
  status: 200,
  outcome: "complete",
  usage: {},
  milliseconds: 1,
  millisecondsToFirstByte: undefined,
  startedAt: 1_000_000,
  ...overrides,
});

/** The end of complete work with this usage. */
export const settled = (observed: ObservedUsage, more: Partial<WorkEnd> = {}): WorkEnd => ({
  status: 200,
  outcome: "complete",
  observed,
  ...more,
});

/** The end of work that failed before it used anything. */
export const failed: WorkEnd = { status: 502, outcome: "failed" };

type FailingStore = LedgerStore & {
  failure: Error | undefined;
  /** Whether it commits, and its answers are lost. */
  loses: boolean;
  taken: LedgerOperation[];
};

/** A real store that records its operations and can be made to fail. */
function failing(inner: LedgerStore): FailingStore {
  const outer: FailingStore = Object.assign(Object.create(inner) as LedgerStore, {
    commit: (operations: readonly LedgerOperation[]): LedgerOutcome[] | Promise<LedgerOutcome[]> => {
      if (outer.failure !== undefined) throw outer.failure;
      outer.taken.push(...operations);
      const outcomes = inner.commit(operations);
      if (outer.loses) throw new Error("the answer is lost");
      return outcomes;
    },
    failure: undefined,
    loses: false,
    taken: [],
    takenKey: inner.takenKey.bind(inner),
    chain: inner.chain.bind(inner),
    openHolds: inner.openHolds.bind(inner),
    audit: inner.audit.bind(inner),
    putAccount: inner.putAccount.bind(inner),
  });
  return outer;
}

/** A real ledger in memory with one account, and a clock and a ticker that the test advances. */
export class WorkScene {
  now = 1_000_000;
  readonly storage: SqliteStorage;
  readonly store: FailingStore;
  readonly ledger: Ledger;
  readonly journalDirectory = join(tmpdir(), `tollgate-journal-${crypto.randomUUID()}`);
  readonly journal = new EndJournal(this.journalDirectory);
  readonly ticker: Ticker;
  readonly deps: WorkDependencies;
  readonly ended: WorkReport[] = [];
  readonly refused: string[] = [];
  readonly committed: CommitReport[] = [];
  /** The calls of `onUnsettled`. */
  readonly unsettled: [string, unknown][] = [];

  private constructor(storage: SqliteStorage) {
    const clock = (): number => this.now;
    this.storage = storage;
    this.store = failing(openLedgerStore(storage));
    this.ledger = new Ledger({ store: this.store });
    this.ticker = new Ticker(tickMs, clock);
    this.deps = {
      ledger: this.ledger,
      ticker: this.ticker,
      clock,
      openAnswers: { add: () => undefined, remove: () => undefined },
      onUnsettled: (id, reason) => this.unsettled.push([id, reason]),
      unsettled: new Map(),
      journal: this.journal,
      observer: {
        ended: (report) => void this.ended.push(report),
        refused: (_order, error) => void this.refused.push(error.code),
        committed: (commit) => void this.committed.push(commit),
      },
    };
  }

  static async start(): Promise<WorkScene> {
    jest.useFakeTimers();
    const storage = await openStorage("sqlite::memory:");
    if (storage.engine !== "sqlite") throw new Error("not SQLite");
    const scene = new WorkScene(storage);
    await scene.store.putAccount(account, scene.now);
    await scene.ledger.submit({ kind: "grant", id: "g", accountId: account.id, amount: credits, at: scene.now });
    return scene;
  }

  async stop(): Promise<void> {
    this.ticker.stop();
    this.journal.close();
    rmSync(this.journalDirectory, { recursive: true, force: true });
    await this.storage.close();
    jest.useRealTimers();
  }

  /** Opens work that is not a replay. */
  async open(overrides: OrderOverrides = {}, deps: Partial<WorkDependencies> = {}): Promise<Work> {
    const work = await openWork({ ...this.deps, ...deps }, orderOf(overrides));
    if (!(work instanceof Work)) throw new Error(`a replay of ${work.firstId}`);
    return work;
  }

  /** Advances the time to the next tick and waits for its effects. */
  async tick(milliseconds: number): Promise<void> {
    this.now += milliseconds;
    jest.advanceTimersByTime(tickMs);
    await this.ledger.flush();
    await new Promise<void>((resolve) => setImmediate(resolve));
    await this.ledger.flush();
  }

  async balances(): Promise<{ charged: bigint | undefined; held: bigint | undefined }> {
    const [state] = await this.store.chain(account.id, this.now);
    return { charged: state?.debitsPosted, held: state?.debitsPending };
  }

  /** The amount of the hold for `orderOf()`. */
  async held(): Promise<bigint | undefined> {
    return (await this.store.openHolds()).find(({ id }) => id === "req_1")?.amount;
  }
}

export async function refusalOf(promise: Promise<unknown>): Promise<GatewayError> {
  const reason: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(reason instanceof GatewayError)) throw new Error(`no refusal: ${String(reason)}`);
  return reason;
}
