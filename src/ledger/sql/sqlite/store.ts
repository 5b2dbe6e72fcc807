import { Calendar, type Nano } from "../../../core/index.ts";
import { retried, retryLocked, type SqliteStorage, StorageError } from "../../../storage/index.ts";
import { type Account, type AccountState, availableOf, changedPeriod, tightestAccount } from "../../accounts.ts";
import type { AuditReport } from "../../books.ts";
import type {
  Grant,
  Hold,
  StoredAnswer,
  LedgerOperation,
  LedgerOutcome,
  Outcomes,
  RateState,
  Release,
  Renew,
  Settle,
  Sweep,
  TopUp,
} from "../../operations.ts";
import { passedLimit, withCall } from "../../rates.ts";
import type { LedgerStore, OpenHold } from "../../store.ts";
import { expiresAt } from "../answers.ts";
import { type GenerationColumns, toGenerationColumns } from "../generations.ts";
import { costOfExpired, toOpenHold } from "../rows.ts";
import { AccountCache, readAccount } from "./account-cache.ts";
import { SqliteBooks } from "./books.ts";
import { CallsByOwner } from "./calls-by-owner.ts";
import { DailySums } from "./daily-sums.ts";
import { Entries } from "./entries.ts";
import { expiredColumns } from "./expired-call.ts";
import { type HeldAmount, Holds } from "./holds.ts";
import { RetryKeys } from "./retry-keys.ts";
import {
  type AccountValues,
  type EntryKind,
  type EntryRow,
  type LedgerStatements,
  prepareStatements,
  type SqliteHoldRow,
} from "./statements.ts";

/** The counter-account of every grant and every charge. */
const BANK = "bank";
const REVENUE = "revenue";

/** A late charge is a second, separate transfer. */
const lateId = (id: string): string => `${id}:late`;

type Insufficient = Extract<LedgerOutcome, { outcome: "insufficient" }>;

/** The end of a hold. */
interface Ending {
  kind: EntryKind;
  /** The cost of the call. */
  cost: Nano;
  at: number;
  /** The tokens that the call has used; undefined keeps the expected ones of its hold. */
  tokens: number | undefined;
  /** The record of the call. */
  call: GenerationColumns | undefined;
  answer: StoredAnswer | undefined;
  /** Until when the answer is kept; a day by default. */
  answerUntil?: number | undefined;
}

/**
 * The ledger on SQLite. A commit is one `BEGIN IMMEDIATE` transaction: no other process can write between the check of
 * a chain's available credits and the hold, so limits are exact for all users of the file.
 */
export class SqliteLedgerStore implements LedgerStore {
  readonly calendar: Calendar;
  readonly books: SqliteBooks;
  readonly #sql: LedgerStatements;
  readonly #accounts: AccountCache;
  readonly #holds: Holds;
  readonly #entries: Entries;
  readonly #retryKeys: RetryKeys;
  readonly #transaction: { immediate: (operations: readonly LedgerOperation[]) => LedgerOutcome[] };
  /** The value for which the cached state is valid. */
  #version: bigint | undefined;
  /** The file's schema when the statements were prepared. */
  readonly #schemaVersion: bigint | undefined;
  /** No entry gets an earlier date; undefined if it must be read. */
  #closedBefore: number | undefined;

  constructor({ handle: database, timezone }: Pick<SqliteStorage, "handle" | "timezone">) {
    this.calendar = new Calendar(timezone);
    this.#sql = prepareStatements(database);
    this.#schemaVersion = this.#sql.schemaVersion.get()?.user_version;
    this.#accounts = new AccountCache(this.#sql, this.calendar);
    this.#holds = new Holds(this.#sql);
    const sums = new DailySums(this.#sql, this.calendar);
    const callsByOwner = new CallsByOwner(this.#sql, sums);
    this.#entries = new Entries(this.#sql, callsByOwner, sums);
    const onClosed = (): void => (this.#closedBefore = undefined);
    this.books = retryLocked(new SqliteBooks({ database, calendar: this.calendar, callsByOwner, onClosed }));
    this.#retryKeys = new RetryKeys(this.#sql);
    this.#transaction = database.transaction((operations: readonly LedgerOperation[]) => {
      this.#refresh();
      const outcomes = operations.map((operation) => this.#apply(operation));
      this.#accounts.flush();
      this.#entries.flush();
      return outcomes;
    });
  }

  commit(operations: readonly LedgerOperation[]): LedgerOutcome[] | Promise<LedgerOutcome[]> {
    return retried(() => this.#commitAtOnce(operations));
  }

  #commitAtOnce(operations: readonly LedgerOperation[]): LedgerOutcome[] {
    try {
      return this.#transaction.immediate(operations);
    } catch (reason) {
      this.#forget();
      throw reason;
    }
  }

  /**
   * Call it first within a transaction, when no other process can write any more. `data_version` shows whether another
   * process has committed in between, at the cost of a read from shared memory.
   */
  #refresh(): void {
    const version = this.#sql.dataVersion.get()?.data_version;
    if (version !== this.#version) {
      this.#checkSchema();
      this.#checkTimezone();
      this.#forget();
    }
    this.#version = version;
    this.#accounts.trim();
  }

  /**
   * A newer Tollgate may have migrated the schema meanwhile. Holds could still be taken, but their ends could not be
   * written, so nothing is written.
   */
  #checkSchema(): void {
    if (this.#sql.schemaVersion.get()?.user_version === this.#schemaVersion) return;
    throw new StorageError("storage: another version of Tollgate has changed the schema; start this one anew");
  }

  #checkTimezone(): void {
    const stored = this.#sql.state.get()?.timezone;
    if (stored === this.calendar.zone) return;
    throw new StorageError(`storage: its days are now those of ${stored}; restart this process`);
  }

  #forget(): void {
    this.#closedBefore = undefined;
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
      case "settle":
        return this.#settle(operation);
      case "release":
        return this.#release(operation);
      case "renew":
        return this.#renew(operation);
      case "park":
        return this.#holds.park(operation);
      case "keep-answer":
        return this.#retryKeys.keep(operation);
      case "grant":
        return this.#grant(operation);
      case "sweep":
        return this.#sweep(operation);
    }
  }

  #hold(hold: Hold): Outcomes["hold"] {
    const { id, accountId, amount, at, tokens = 0 } = hold;
    const chain = this.#accounts.chain(accountId, at);
    if (chain.length === 0) return { outcome: "no-account" };
    const rates = hold.rates === undefined ? undefined : this.#accounts.rates(accountId, at);
    const refusal = this.#retryKeys.answer(hold) ?? overRate(hold, rates) ?? lackOfRoom(chain, amount);
    if (refusal !== undefined) return this.#heldBefore(hold) ?? refusal;
    if (this.#entries.has(id) || !this.#holds.insert(hold)) return this.#heldBefore(hold) ?? { outcome: "conflict" };
    this.#retryKeys.claim(hold);
    this.#accounts.setAside(accountId, amount);
    this.#accounts.countCall(accountId, tokens, at);
    return rates === undefined ? { outcome: "held" } : { outcome: "held", rates: this.#accounts.rates(accountId, at) };
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
    const refusal = lackOfRoom(this.#accounts.chain(hold.accountId, at), lacking);
    if (refusal !== undefined) return refusal;
    this.#holds.raise(hold, amount);
    this.#accounts.setAside(hold.accountId, lacking);
    return { outcome: "raised" };
  }

  #settle(settle: Settle): Outcomes["settle"] {
    const { id, amount: cost, at, tokens, record, answer, answerUntil } = settle;
    const hold = this.#holds.take(id);
    if (hold !== undefined) {
      const call = record && toGenerationColumns(record);
      const charge = this.#end(hold, { kind: "settle", cost, at, tokens, call, answer, answerUntil });
      return { outcome: "settled", shortfall: cost - charge };
    }
    const ended = this.#entries.find(id);
    if (ended === undefined) return { outcome: "no-hold" };
    if (ended.kind === "expire") return this.#settleLate(ended, settle);
    const same = ended.kind === "settle" && ended.amount + ended.shortfall === cost;
    return same ? { outcome: "exists", shortfall: ended.shortfall } : { outcome: "conflict" };
  }

  #release(release: Release): Outcomes["release"] {
    const { id, at, record } = release;
    const hold = this.#holds.take(id);
    if (hold !== undefined) {
      const call = record && toGenerationColumns(record);
      this.#end(hold, { kind: "release", cost: 0n, at, tokens: 0, call, answer: undefined });
      return { outcome: "released" };
    }
    const ended = this.#entries.find(id);
    if (ended === undefined) return { outcome: "no-hold" };
    if (ended.kind === "release") return { outcome: "exists" };
    if (ended.kind !== "expire") return { outcome: "conflict" };
    const { outcome } = this.#settleLate(ended, { ...release, kind: "settle", amount: 0n });
    return { outcome: outcome === "settled" ? "released" : outcome };
  }

  #renew({ id, leaseUntil, observed, keeper }: Renew): Outcomes["renew"] {
    const { changes } = this.#sql.renewHold.run(leaseUntil, observed ?? null, keeper ?? null, id);
    return { outcome: changes === 0 ? "ended" : "renewed" };
  }

  #grant({ id, accountId, amount, at }: Grant): Outcomes["grant"] {
    const existing = this.#entries.find(id);
    if (existing !== undefined) {
      const same = existing.kind === "grant" && existing.credit_account === accountId && existing.amount === amount;
      return { outcome: same ? "exists" : "conflict" };
    }
    if (this.#accounts.chain(accountId, at).length === 0) return { outcome: "no-account" };
    this.#accounts.postCredit(accountId, amount);
    const date = this.#dateOf(at);
    const sides = { debit: BANK, credit: accountId };
    this.#entries.insert({ id, kind: "grant", ...sides, amount, held: 0n, shortfall: 0n, at: date });
    return { outcome: "granted" };
  }

  #sweep({ at }: Sweep): Outcomes["sweep"] {
    const left = this.#sql.leftHolds.all(at);
    for (const hold of left) this.#expire(hold, at);
    this.#retryKeys.forget(at);
    return { outcome: "swept", expired: left.length };
  }

  #expire(row: SqliteHoldRow, at: number): void {
    const hold = this.#holds.take(row.id);
    if (hold === undefined) return;
    const call = expiredColumns(row, this.#ownerOf(row.account_id, at), at);
    this.#end(hold, { kind: "expire", cost: costOfExpired(row), at, tokens: undefined, call, answer: undefined });
  }

  /** The user that an account's calls belong to. */
  #ownerOf(accountId: string, at: number): string {
    const chain = this.#accounts.chain(accountId, at);
    const user = chain.find(({ kind }) => kind === "user");
    return user?.name ?? this.#sql.tokenUser.get(accountId)?.user_name ?? chain[0]?.name ?? "";
  }

  /** Posts the end of a hold, returns its uncharged part, and returns the charge: as much as was available. */
  #end(hold: HeldAmount, { kind, cost, at, tokens, call, answer, answerUntil = expiresAt(at) }: Ending): Nano {
    const { id, accountId: account, amount: held } = hold;
    const charge = this.#chargeable(account, cost, held, at);
    const date = this.#dateOf(this.#accounts.postDebit({ accountId: account, held, charge, at }));
    const excess = tokens === undefined ? 0 : tokens - hold.tokens;
    this.#accounts.countEnd(account, excess, hold.takenAt);
    const shortfall = cost - charge;
    const sides = { debit: account, credit: REVENUE };
    this.#entries.insert({ id, kind, ...sides, amount: charge, held, shortfall, at: date }, call);
    this.#retryKeys.end(hold, answer, answerUntil);
    return charge;
  }

  /**
   * An expired hold may still be ended by the process that was assumed dead. Nothing is held any more: the part that
   * the expiry did not charge is taken if credits are available, and an excess is returned by an entry in the other
   * direction.
   */
  #settleLate(expired: EntryRow, { id, amount, at, record }: Settle): Outcomes["settle"] {
    const account = expired.debit_account;
    const late = this.#entries.find(lateId(id));
    if (late !== undefined) {
      const back = late.debit_account === REVENUE;
      const same = expired.amount + (back ? -late.amount : late.amount) + late.shortfall === amount;
      return same ? { outcome: "exists", shortfall: late.shortfall } : { outcome: "conflict" };
    }
    const due = amount - expired.amount;
    const charge = this.#chargeable(account, due, 0n, at);
    const chargedAt = Number(expired.created_at);
    const date = this.#dateOf(this.#accounts.postDebit({ accountId: account, held: 0n, charge, at, chargedAt }));
    const [debit, credit] = charge < 0n ? [REVENUE, account] : [account, REVENUE];
    const absolute = charge < 0n ? -charge : charge;
    const shortfall = due - charge;
    const amounts = { amount: absolute, held: 0n, shortfall };
    this.#entries.insert({ id: lateId(id), kind: "settle", debit, credit, ...amounts, at: date, corrects: expired });
    const credits = expired.amount + charge;
    if (record === undefined) this.#entries.correctCredits(expired, credits);
    else this.#entries.replaceCall(expired, toGenerationColumns(record), credits);
    return { outcome: "settled", shortfall };
  }

  /** The date of an entry: never before the closing of the books, whatever its node's clock or journal says. */
  #dateOf(at: number): number {
    this.#closedBefore ??= Number(this.#sql.state.get()?.closed_before ?? 0n);
    return at < this.#closedBefore ? this.#closedBefore : at;
  }

  /** The chargeable part of `amount`: everything that was held, and beyond it the available credits of the chain. */
  #chargeable(accountId: string, amount: Nano, held: Nano, at: number): Nano {
    if (amount <= held) return amount;
    const tightest = tightestAccount(this.#accounts.chain(accountId, at));
    const room = tightest && availableOf(tightest);
    if (room === undefined || amount - held <= room) return amount;
    return held + (room > 0n ? room : 0n);
  }

  createAccount(account: Account, at: number): Promise<void> {
    return Promise.resolve(retried(() => void this.#sql.createAccount.run(...accountValues(account, at))));
  }

  putAccount(account: Account, at: number): Promise<void> {
    const { start, natural } = changedPeriod(account.period, at, this.calendar);
    const put = (): void => {
      this.#sql.putAccount.run(...accountValues(account, at), natural, start);
      this.#accounts.clear();
    };
    return Promise.resolve(retried(put));
  }

  chain(accountId: string, at: number): Promise<AccountState[]> {
    return Promise.try(() => {
      this.#refresh();
      return this.#accounts.chain(accountId, at).map(toAccountState);
    });
  }

  listAccounts(at: number): Promise<AccountState[]> {
    return Promise.resolve(this.#sql.accounts.all().map((row) => toAccountState(readAccount(row, at, this.calendar))));
  }

  openHolds(): Promise<OpenHold[]> {
    return Promise.resolve(this.#sql.openHolds.all().map(toOpenHold));
  }

  audit(): Promise<AuditReport> {
    return this.books.audit();
  }
}

function overRate({ rates, tokens = 0 }: Hold, seen: RateState | undefined): Outcomes["hold"] | undefined {
  if (rates === undefined || seen === undefined) return undefined;
  const limit = passedLimit(rates, withCall(seen, tokens));
  return limit && { outcome: "limited", limit, rates: seen };
}

function lackOfRoom(chain: readonly AccountState[], amount: Nano): Insufficient | undefined {
  const tightest = tightestAccount(chain);
  const room = tightest && availableOf(tightest);
  if (tightest === undefined || room === undefined || room >= amount) return undefined;
  return { outcome: "insufficient", accountId: tightest.id, available: room };
}

function accountValues(account: Account, at: number): AccountValues {
  const { id, kind, name, parentId, prepaid, maxBudget, period } = account;
  return [id, kind, name, parentId ?? null, prepaid ? 1 : 0, maxBudget ?? null, period ?? null, at];
}

/** A copy without the cache's own fields. */
function toAccountState(account: AccountState): AccountState {
  const { id, kind, name, parentId, prepaid, maxBudget, period } = account;
  const { creditsPosted, debitsPosted, debitsPending, periodDebits } = account;
  return {
    id,
    kind,
    name,
    parentId,
    prepaid,
    maxBudget,
    period,
    creditsPosted,
    debitsPosted,
    debitsPending,
    periodDebits,
  };
}
