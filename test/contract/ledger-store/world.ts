/**
 * The vocabulary of the ledger's conformance suite: short names for accounts and operations, and a store to apply them
 * to.
 */
import { expect, test } from "bun:test";
import type { TokenStore } from "../../../src/auth/index.ts";
import type { RateLimits } from "../../../src/core/index.ts";
import type {
  Account,
  AccountState,
  Hold,
  HoldKeeper,
  StoredAnswer,
  LedgerOperation,
  LedgerOutcome,
  LedgerStore,
  ParkedJob,
  RateState,
  Release,
  Settle,
} from "../../../src/ledger/index.ts";

/** A store on a fresh, empty storage, with a way past it to the tables. */
export interface OpenedLedgerStore {
  store: LedgerStore;
  /** The tokens of the same storage. */
  tokens: TokenStore;
  /** Another connection to the same storage, as another process has it. */
  connectAgain: () => Promise<LedgerStore>;
  /** Runs one statement past the ledger, to read the books or to damage them. */
  query: (sql: string) => Promise<Record<string, unknown>[]>;
  close: () => Promise<void>;
}

export type OpenLedgerStore = () => Promise<OpenedLedgerStore>;

/** Noon of the last day of a month, UTC. */
export const noon = Date.UTC(2026, 0, 31, 12);
export const minute = 60_000;
export const day = 86_400_000;

/** Long enough for every test that doesn't ask for expiry. */
const lease = 100 * day;

type Limits = Partial<Pick<Account, "prepaid" | "maxBudget" | "period" | "parentId">>;

function account(kind: Account["kind"], name: string, limits: Limits): Account {
  const none = { parentId: undefined, prepaid: false, maxBudget: undefined, period: undefined };
  return { id: `${kind}:${name}`, kind, name, ...none, ...limits };
}

export const organisation = (name: string, limits: Limits = {}): Account => account("organisation", name, limits);
export const user = (name: string, limits: Limits = {}): Account => account("user", name, limits);
export const token = (name: string, limits: Limits = {}): Account => account("token", name, limits);

/** Statements that put a budget beside an account's chains, for globs of models or for all. */
export function budgetRows(
  { id, accountId }: { id: string; accountId: string },
  models: readonly string[] | undefined,
): string[] {
  const group = `INSERT INTO model_groups VALUES ('${id}', '${id}', '${JSON.stringify(models)}', 1, 1)`;
  return [
    ...(models === undefined ? [] : [group]),
    `INSERT INTO budgets (id, account_id, group_id, created_at, version) VALUES ('${id}', '${accountId}', ${models === undefined ? "NULL" : `'${id}'`}, 1, 1)`,
    `UPDATE accounts SET has_budgets = (1 = 1) WHERE id = '${accountId}'`,
  ];
}

type HoldOptions = { at?: number; leaseUntil?: number } & Pick<
  Hold,
  "rates" | "ratesAbove" | "tokens" | "retry" | "parent" | "session"
>;

export const hold = (id: string, accountId: string, amount: bigint, options: HoldOptions = {}) => {
  const { at = noon, leaseUntil = at + lease, ...rest } = options;
  return {
    kind: "hold",
    id,
    accountId,
    amount,
    operation: "chat",
    provider: "openai",
    model: "some-model",
    dialect: undefined,
    streamed: false,
    at,
    leaseUntil,
    ...rest,
  } as const;
};
export const topUp = (id: string, amount: bigint, at = noon) => ({ kind: "top-up", id, amount, at }) as const;
export const move = (id: string, amount: bigint, at = noon) =>
  ({ kind: "move", id, amount, at, provider: "anthropic", model: "other" }) as const;
export const settle = (
  id: string,
  amount: bigint,
  at = noon,
  rest: Pick<Settle, "tokens" | "record" | "answer" | "answerUntil"> = {},
) => ({ kind: "settle", id, amount, at, ...rest }) as const;
export const release = (id: string, at = noon, rest: Pick<Release, "record"> = {}) =>
  ({ kind: "release", id, at, ...rest }) as const;
export const renew = (id: string, leaseUntil: number, observed?: bigint) =>
  ({ kind: "renew", id, leaseUntil, observed }) as const;
/** A renewal that hands the hold over. */
export const keep = (keeper: HoldKeeper, ...renewed: Parameters<typeof renew>) =>
  ({ ...renew(...renewed), keeper }) as const;
/** A hand-over to a job, whose row has the hold's id by default. */
export const park = (id: string, leaseUntil: number, job: Partial<ParkedJob> = {}) =>
  ({
    kind: "park",
    id,
    leaseUntil,
    job: { id, kind: "video", owner: "alice", payload: { of: id }, runAt: noon, createdAt: noon, ...job },
  }) as const;
export const keepAnswer = (id: string, accountId: string, until: number, answer?: StoredAnswer) =>
  ({ kind: "keep-answer", id, accountId, key: "k", until, answer }) as const;
export const grant = (id: string, accountId: string, amount: bigint, at = noon) =>
  ({ kind: "grant", id, accountId, amount, at }) as const;
export const refund = (id: string, at = noon) =>
  ({ kind: "refund", id, at, actor: "cli:tester", reason: "a test" }) as const;
export const sweep = (at: number) => ({ kind: "sweep", at }) as const;

export const held = { outcome: "held" } as const;
export const heldAt = (rates: RateState) => ({ outcome: "held", rates }) as const;
export const limited = (limit: keyof RateLimits, rates: RateState) => ({ outcome: "limited", limit, rates }) as const;
export const replayed = (id: string, answer: StoredAnswer) => ({ outcome: "replayed", id, answer }) as const;
export const retryRunning = { outcome: "retry-running" } as const;
export const retryMismatch = { outcome: "retry-mismatch" } as const;
export const raised = { outcome: "raised" } as const;
export const moved = { outcome: "moved" } as const;
export const exists = { outcome: "exists" } as const;
export const conflict = { outcome: "conflict" } as const;
export const noHold = { outcome: "no-hold" } as const;
export const noAccount = { outcome: "no-account" } as const;
export const released = { outcome: "released" } as const;
export const renewed = { outcome: "renewed" } as const;
export const parked = { outcome: "parked" } as const;
export const kept = { outcome: "kept" } as const;
export const noKey = { outcome: "no-key" } as const;
export const ended = { outcome: "ended" } as const;
export const granted = { outcome: "granted" } as const;
export const settled = (shortfall = 0n) => ({ outcome: "settled", shortfall }) as const;
export const refunded = (amount: bigint) => ({ outcome: "refunded", amount }) as const;
export const refundedBefore = (amount: bigint) => ({ outcome: "exists", amount }) as const;
export const settledBefore = (shortfall = 0n) => ({ outcome: "exists", shortfall }) as const;
export const swept = (expired: number) => ({ outcome: "swept", expired }) as const;
export const insufficient = (accountId: string, available: bigint) =>
  ({ outcome: "insufficient", accountId, available }) as const;

/** Counters of one account: granted, charged, held and, if relevant, charged in the running period. */
interface Counters {
  credits?: bigint;
  debits?: bigint;
  pending?: bigint;
  period?: bigint;
}

/** A row of a table: steps with the outcome that each must have, and the counters that they must leave. */
export interface LedgerCase {
  title: string;
  accounts: readonly Account[];
  steps: readonly (readonly [LedgerOperation, LedgerOutcome])[];
  after: Readonly<Record<string, Counters>>;
  /** The moment of `after`; noon by default. */
  at?: number;
  /** Shortfall in the books. */
  shortfall?: bigint;
  /** Ids of the holds that stay open. */
  open?: readonly string[];
}

export async function stateOf(store: LedgerStore, id: string, at = noon): Promise<AccountState> {
  const [first] = await store.chain(id, at);
  if (first === undefined) throw new Error(`no account ${id}`);
  return first;
}

function countersOf(state: AccountState, wanted: Counters): Counters {
  const { creditsPosted: credits, debitsPosted: debits, debitsPending: pending, periodDebits: period } = state;
  return { credits, debits, pending, ...(wanted.period === undefined ? {} : { period }) };
}

export async function expectCounters(store: LedgerStore, after: LedgerCase["after"], at = noon): Promise<void> {
  for (const [id, wanted] of Object.entries(after)) {
    const counters = countersOf(await stateOf(store, id, at), wanted);
    expect({ id, ...counters }).toEqual({ id, credits: 0n, debits: 0n, pending: 0n, ...wanted });
  }
}

/** Every counter follows from the books. */
export async function expectCleanBooks(store: LedgerStore): Promise<void> {
  const { drifts } = await store.audit();
  expect(drifts).toEqual([]);
}

/** Plays a case, with a commit per step or one for all, and compares all expected values. */
async function play(open: OpenLedgerStore, row: LedgerCase, commits: "each" | "one"): Promise<void> {
  const { store, close } = await open();
  try {
    for (const each of row.accounts) await store.putAccount(each, noon);
    const operations = row.steps.map(([operation]) => operation);
    const outcomes: LedgerOutcome[] = [];
    if (commits === "one") outcomes.push(...(await store.commit(operations)));
    else for (const operation of operations) outcomes.push(...(await store.commit([operation])));
    expect(outcomes).toEqual(row.steps.map(([, outcome]) => outcome));
    await expectCounters(store, row.after, row.at);
    const openHolds = await store.openHolds();
    expect(openHolds.map(({ id }) => id)).toEqual([...(row.open ?? [])]);
    const { shortfall } = await store.audit();
    expect(shortfall).toBe(row.shortfall ?? 0n);
    await expectCleanBooks(store);
  } finally {
    await close();
  }
}

/** Each row twice: with a commit per step, and with all steps in one. */
export function testCases(open: OpenLedgerStore, cases: readonly LedgerCase[]): void {
  test.each(cases.map((row) => [row.title, row] as const))("%s", async (_title, row) => {
    await play(open, row, "each");
    await play(open, row, "one");
  });
}
