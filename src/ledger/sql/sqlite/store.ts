import { Calendar, type Nano, type RateLimits } from "../../../core/index.ts";
import {
  readerOf,
  retried,
  runnerOf,
  sql,
  type SqliteRunner,
  type SqliteStorage,
  type SqlRunner,
  StorageError,
} from "../../../storage/index.ts";
import { type Account, type AccountState, availableOf, tightestAccount } from "../../accounts.ts";
import type { AuditReport } from "../../books.ts";
import type {
  Grant,
  Hold,
  LedgerOperation,
  LedgerOutcome,
  Move,
  Outcomes,
  RateState,
  TopUp,
} from "../../operations.ts";
import { limitsByLevel, passedLimit, seenRates, withCall } from "../../rates.ts";
import type { ClaimedKey, LedgerStore, OpenHold } from "../../store.ts";
import { movedBudgets } from "../call-budgets.ts";
import { accountColumns, createAccount, putAccount, readAccountState } from "../account-statements.ts";
import { toOpenHold } from "../rows.ts";
import { AccountCache } from "./account-cache.ts";
import { SqliteBooks } from "./books.ts";
import { CallsByOwner } from "./calls-by-owner.ts";
import { DailySums } from "./daily-sums.ts";
import { Ends } from "./ends.ts";
import { Entries } from "./entries.ts";
import { Holds } from "./holds.ts";
import { RetryKeys } from "./retry-keys.ts";
import { type LedgerStatements, prepareStatements } from "./statements.ts";

/** The counter-account of every grant. */
const BANK = "bank";

type Insufficient = Extract<LedgerOutcome, { outcome: "insufficient" }>;

/**
 * The ledger on SQLite. A commit is one `BEGIN IMMEDIATE` transaction: no other process can write between the check of
 * a chain's available credits and the hold, so limits are exact for all users of the file.
 */
export class SqliteLedgerStore implements LedgerStore {
  readonly calendar: Calendar;
  readonly books: SqliteBooks;
  readonly #sql: LedgerStatements;
  readonly #runner: SqliteRunner;
  readonly #reader: SqlRunner;
  readonly #accounts: AccountCache;
  readonly #holds: Holds;
  readonly #entries: Entries;
  readonly #retryKeys: RetryKeys;
  readonly #ends: Ends;
  readonly #transaction: { immediate: (operations: readonly LedgerOperation[]) => LedgerOutcome[] };
  /** The value for which the cached state is valid. */
  #version: bigint | undefined;
  readonly #checkFile: () => void;

  constructor(storage: SqliteStorage) {
    const { handle: database, timezone } = storage;
    this.#reader = readerOf(storage);
    this.calendar = new Calendar(timezone);
    this.#sql = prepareStatements(database);
    this.#runner = runnerOf({ engine: "sqlite", handle: database });
    this.#checkFile = fileCheck(this.#sql, this.calendar.zone, () => storage.requireUsable());
    this.#accounts = new AccountCache(this.#sql, this.calendar);
    this.#holds = new Holds(this.#sql);
    const sums = new DailySums(this.#sql, this.calendar);
    const callsByOwner = new CallsByOwner(this.#sql, sums);
    this.#entries = new Entries(this.#sql, callsByOwner, sums);
    const onClosed = (): void => this.#ends.clear();
    this.books = new SqliteBooks({ database, calendar: this.calendar, callsByOwner, onClosed });
    this.#retryKeys = new RetryKeys(this.#sql);
    this.#ends = new Ends(this.#sql, {
      accounts: this.#accounts,
      holds: this.#holds,
      entries: this.#entries,
      retryKeys: this.#retryKeys,
    });
    this.#transaction = database.transaction((operations: readonly LedgerOperation[]) => {
      this.#refresh();
      const outcomes = operations.map((operation) => this.#apply(operation));
      this.#accounts.flush();
      this.#entries.flush();
      return outcomes;
    });
  }

  commit(operations: readonly LedgerOperation[]): LedgerOutcome[] | Promise<LedgerOutcome[]> {
    return retried(() => {
      try {
        return this.#transaction.immediate(operations);
      } catch (reason) {
        this.forget();
        throw reason;
      }
    });
  }

  /**
   * Call it first within a transaction, when no other process can write any more. `data_version` shows whether another
   * process has committed in between, at the cost of a read from shared memory.
   */
  #refresh(): void {
    const version = this.#sql.dataVersion.get()?.data_version;
    if (version !== this.#version) {
      this.#checkFile();
      this.forget();
    }
    this.#version = version;
    this.#accounts.trim();
  }

  /** Clears the caches: a transaction failed, or rows were changed without the store. */
  forget(): void {
    this.#ends.clear();
    this.#accounts.clear();
    this.#holds.clear();
    this.#entries.clear();
  }

  #apply(operation: LedgerOperation): LedgerOutcome {
    switch (operation.kind) {
      case "hold":
        return this.#hold(operation);
      case "top-up":
        return this.#topUp(operation);
      case "move":
        return this.#move(operation);
      case "settle":
        return this.#ends.settle(operation);
      case "release":
        return this.#ends.release(operation);
      case "renew":
        return this.#holds.renew(operation);
      case "park":
        return this.#holds.park(operation);
      case "keep-answer":
        return this.#retryKeys.keep(operation);
      case "grant":
        return this.#grant(operation);
      case "refund":
        return this.#ends.refund(operation);
      case "sweep":
        return this.#ends.sweep(operation);
    }
  }

  #hold(hold: Hold): Outcomes["hold"] {
    const { id, accountId, amount, at, retry, tokens = 0, isPart = false } = hold;
    const claimed = retry && { accountId, retry, at };
    const budgets = this.#accounts.budgetsOf(accountId, hold.provider, hold.model);
    const chain = this.#accounts.chain(accountId, at, budgets);
    if (chain.length === 0) return { outcome: "no-account" };
    const limits = limitsByLevel(hold);
    const over = limits && overRate(hold, limits, this.#accounts.rates(accountId, at));
    const refusal = (claimed && this.#retryKeys.answer(claimed)) ?? over ?? lackOfRoom(chain, amount);
    if (refusal !== undefined) return this.#heldBefore(hold) ?? refusal;
    if (this.#entries.has(id) || !this.#holds.insert(hold, budgets))
      return this.#heldBefore(hold) ?? { outcome: "conflict" };
    if (claimed !== undefined) this.#retryKeys.claim(claimed, id);
    this.#accounts.setAside(accountId, amount, budgets);
    this.#accounts.countCall({ accountId, tokens, isPart }, at);
    if (limits === undefined) return { outcome: "held" };
    return { outcome: "held", ...seenRates(hold, this.#accounts.rates(accountId, at)) };
  }

  /** The outcome of a hold whose id exists already, open or ended: whether the two are the same. */
  #heldBefore({ id, accountId, amount }: Hold): { outcome: "exists" | "conflict" } | undefined {
    const open = this.#holds.find(id);
    const ended = open === undefined ? this.#entries.find(id) : undefined;
    if (open === undefined && ended === undefined) return undefined;
    const isSame =
      (open?.accountId === accountId && open.amount === amount) ||
      (ended?.debit_account === accountId && ended.held === amount);
    return { outcome: isSame ? "exists" : "conflict" };
  }

  #topUp({ id, amount, at }: TopUp): Outcomes["top-up"] {
    const hold = this.#holds.find(id);
    if (hold === undefined) return { outcome: "ended" };
    const lacking = amount - hold.amount;
    if (lacking <= 0n) return { outcome: "exists" };
    const refusal = lackOfRoom(this.#accounts.chain(hold.accountId, at, hold.budgets), lacking);
    if (refusal !== undefined) return refusal;
    this.#holds.raise(hold, amount);
    this.#accounts.setAside(hold.accountId, lacking, hold.budgets);
    return { outcome: "raised" };
  }

  #move(move: Move): Outcomes["move"] {
    const hold = this.#holds.find(move.id);
    if (hold === undefined) return { outcome: "ended" };
    const { accountId, amount: held } = hold;
    const { amount, at } = move;
    const budgets = this.#accounts.budgetsOf(accountId, move.provider, move.model);
    const { kept, added, dropped } = movedBudgets(hold.budgets, budgets);
    const lacking = amount - held;
    const refusal = lacking > 0n ? lackOfRoom(this.#accounts.chain(accountId, at, kept), lacking) : undefined;
    const refused = refusal ?? lackOfRoom(this.#accounts.accounts(added, at), amount, held);
    if (refused !== undefined) return refused;
    this.#holds.move(hold, move, budgets);
    this.#accounts.setAside(accountId, lacking, kept);
    this.#accounts.setAsideIn(added, amount);
    this.#accounts.setAsideIn(dropped, -held);
    return { outcome: "moved" };
  }

  #grant({ id, accountId, amount, at, actor, reason }: Grant): Outcomes["grant"] {
    const isTaken = amount < 0n;
    const absolute = isTaken ? -amount : amount;
    const existing = this.#entries.find(id);
    if (existing !== undefined) {
      const account = isTaken ? existing.debit_account : existing.credit_account;
      const same = existing.kind === "grant" && account === accountId && existing.amount === absolute;
      return { outcome: same ? "exists" : "conflict" };
    }
    const [account] = this.#accounts.chain(accountId, at);
    if (account === undefined) return { outcome: "no-account" };
    const available = account.creditsPosted - account.debitsPosted - account.debitsPending;
    if (isTaken && available < absolute) return { outcome: "insufficient", accountId, available };
    this.#accounts.postCredit(accountId, amount);
    const date = this.#ends.dateOf(at);
    const sides = isTaken ? { debit: accountId, credit: BANK } : { debit: BANK, credit: accountId };
    const amounts = { amount: absolute, held: 0n, shortfall: 0n };
    this.#entries.insert({ id, kind: "grant", ...sides, ...amounts, at: date, actor, reason });
    return { outcome: "granted" };
  }

  takenKey(key: ClaimedKey): ReturnType<LedgerStore["takenKey"]> {
    return Promise.resolve(retried(() => this.#retryKeys.lookUp(key)));
  }

  createAccount(account: Account, at: number): Promise<void> {
    return this.#runner.run(createAccount(account, at));
  }

  async putAccount(account: Account, at: number): Promise<void> {
    await this.#runner.run(putAccount(account, at, this.calendar));
    this.#accounts.clear();
  }

  chain(accountId: string, at: number): Promise<AccountState[]> {
    return Promise.try(() => {
      this.#refresh();
      return this.#accounts.chain(accountId, at).map(toAccountState);
    });
  }

  listAccounts(at: number): Promise<AccountState[]> {
    const all = sql`SELECT ${accountColumns} FROM accounts ORDER BY id`;
    return this.#reader.rows(all, (row) => readAccountState(row, at, this.calendar));
  }

  openHolds(): Promise<OpenHold[]> {
    return Promise.resolve(this.#sql.openHolds.all().map(toOpenHold));
  }

  audit(): Promise<AuditReport> {
    return this.books.audit();
  }
}

function overRate(hold: Hold, limits: readonly RateLimits[], seen: readonly RateState[]): Outcomes["hold"] | undefined {
  for (const [level, rates] of seen.entries()) {
    const limit = passedLimit(limits[level] ?? {}, withCall(rates, hold));
    if (limit !== undefined)
      return { outcome: "limited", limit, ...(level > 0 && { level }), ...seenRates(hold, seen) };
  }
  return undefined;
}

/** What is available is beyond `held`, which is not taken from these accounts yet. */
function lackOfRoom(chain: readonly AccountState[], amount: Nano, held = 0n): Insufficient | undefined {
  const tightest = tightestAccount(chain);
  const room = tightest && availableOf(tightest);
  if (tightest === undefined || room === undefined || room >= amount) return undefined;
  return { outcome: "insufficient", accountId: tightest.id, available: room - held };
}

/** A copy without the cache's own fields. */
function toAccountState(account: AccountState): AccountState {
  const { id, kind, name, parentId, prepaid, maxBudget, period, periodFrom, raisedBy, raisedUntil, markup } = account;
  const { creditsPosted, debitsPosted, debitsPending, periodDebits } = account;
  return {
    id,
    kind,
    name,
    parentId,
    prepaid,
    maxBudget,
    period,
    periodFrom,
    raisedBy,
    raisedUntil,
    markup,
    creditsPosted,
    debitsPosted,
    debitsPending,
    periodDebits,
  };
}

/**
 * A newer Tollgate may have migrated the schema meanwhile. Unless that was for this version too, holds could still be taken, but their
 * ends could not be written, so nothing is written. Nor is it by the days of another time zone.
 */
function fileCheck(statements: LedgerStatements, zone: string, requireUsable: () => void): () => void {
  let usable = statements.schemaVersion.get()?.user_version;
  return () => {
    const version = statements.schemaVersion.get()?.user_version;
    if (version !== usable) requireUsable();
    usable = version;
    const stored = statements.state.get()?.timezone;
    if (stored === zone) return;
    throw new StorageError(`storage: its days are now those of ${stored}; restart this process`);
  };
}
