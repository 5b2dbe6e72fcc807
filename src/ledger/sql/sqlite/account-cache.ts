/**
 * The accounts of recent commits, as stored in the file. A commit works on these and writes each changed account once,
 * however many of its operations changed it. A commit of another process makes the whole cache stale.
 */
import type { Calendar, Nano } from "../../../core/index.ts";
import type { AccountState } from "../../accounts.ts";
import type { RateState } from "../../operations.ts";
import { budgetsFor, type CallBudgets, type ModelBudget, readBudget } from "../call-budgets.ts";
import { periodStart } from "../../periods.ts";
import { type CallCounts, countCall, countEnd, ratesAt } from "../../rates.ts";
import type { HeldAmount } from "./holds.ts";
import type { AccountRow, LedgerStatements } from "./statements.ts";

/** Cached accounts. */
const ACCOUNTS_MAX = 100_000;

/** Models whose budgets are cached, of each chain. */
const MODELS_MAX = 1_000;

/** The end of a hold, as its chain's counters need it. */
export interface Debit {
  accountId: string;
  budgets: CallBudgets;
  held: Nano;
  charge: Nano;
  at: number;
  chargedAt?: number;
}

interface CachedAccount extends AccountState, CallCounts {
  periodStart: number;
  hasBudgets: boolean;
  changed: boolean;
}

/** The budgets of a chain, and those of each model that was asked for. */
interface ChainBudgets {
  all: readonly ModelBudget[];
  byModel: Map<string, CallBudgets>;
}

export class AccountCache {
  readonly #sql: LedgerStatements;
  readonly #calendar: Calendar;
  readonly #accounts = new Map<string, CachedAccount>();
  /** Each requested account with its parents; an account is requested several times per call. */
  readonly #chains = new Map<string, readonly CachedAccount[]>();
  /** Of those chains that have budgets. */
  readonly #budgets = new Map<string, ChainBudgets>();
  readonly #changed: CachedAccount[] = [];

  constructor(sql: LedgerStatements, calendar: Calendar) {
    this.#sql = sql;
    this.#calendar = calendar;
  }

  /** Keeps the cache bounded. Call it only while there are no unwritten changes. */
  trim(): void {
    if (this.#accounts.size > ACCOUNTS_MAX) this.clear();
  }

  /** Clears the cache, including changes: after a failed transaction, or a write that bypassed the cache. */
  clear(): void {
    this.#accounts.clear();
    this.#chains.clear();
    this.#budgets.clear();
    this.#changed.length = 0;
  }

  /** The account, its parents and then the budgets, as of `at`; empty if it does not exist. Reading changes nothing. */
  chain(accountId: string, at: number, budgets?: CallBudgets): readonly AccountState[] {
    return this.#asOf(this.#counted(accountId, budgets), at);
  }

  /** The accounts of budgets alone. */
  accounts(budgets: CallBudgets, at: number): readonly AccountState[] {
    return this.#asOf(
      (budgets ?? []).map((id) => this.#existing(id)),
      at,
    );
  }

  #asOf(accounts: readonly CachedAccount[], at: number): readonly AccountState[] {
    for (const account of accounts)
      if (isOtherAt(account, at, this.#calendar)) return accounts.map((each) => asOf(each, at, this.#calendar));
    return accounts;
  }

  /** The budgets that a call of a model counts in now, besides its chain. */
  budgetsOf(accountId: string, provider: string, model: string): CallBudgets {
    const chain = this.#chain(accountId);
    const budgets = this.#budgets.size === 0 || chain.length === 0 ? undefined : this.#budgets.get(accountId);
    if (budgets === undefined) return undefined;
    const id = `${provider}/${model}`;
    if (budgets.byModel.has(id)) return budgets.byModel.get(id);
    const counted = budgetsFor(budgets.all, id);
    if (budgets.byModel.size >= MODELS_MAX) budgets.byModel.clear();
    budgets.byModel.set(id, counted);
    return counted;
  }

  /** The counts of the minutes of a chain at `at`. Reading does not begin a minute. */
  rates(accountId: string, at: number): RateState[] {
    return this.#chain(accountId).map((account) => ratesAt(account, at));
  }

  /** Counts a hold for every account of its chain. */
  countCall(hold: { accountId: string; tokens: number; isPart: boolean }, at: number): void {
    for (const account of this.#chain(hold.accountId)) {
      countCall(account, at, hold);
      this.#touch(account);
    }
  }

  /** Counts the end of a hold that was taken with `excess` tokens too few. */
  countEnd({ accountId, takenAt, isPart }: HeldAmount, excess: number): void {
    for (const account of this.#chain(accountId)) {
      countEnd(account, takenAt, { tokens: excess, isPart });
      this.#touch(account);
    }
  }

  setAside(accountId: string, amount: Nano, budgets: CallBudgets): void {
    for (const account of this.#counted(accountId, budgets)) this.#addPending(account, amount);
  }

  /** In the accounts of budgets alone. */
  setAsideIn(budgets: readonly string[], amount: Nano): void {
    for (const id of budgets) this.#addPending(this.#existing(id), amount);
  }

  #addPending(account: CachedAccount, amount: Nano): void {
    account.debitsPending += amount;
    this.#touch(account);
  }

  /**
   * Returns `held` and posts `charge` in every account of the chain, and in the budgets. A negative charge returns a part of the one that
   * was posted at `chargedAt`: it lowers the spending of the same period only. Returns the date of the entry: `at`, or
   * the start of the latest period that an account of the chain is in, if a clock went back. The entry counts in the
   * period of that date in every account, so that no budget counts it in another period than the books.
   */
  postDebit({ accountId, budgets, held, charge, at, chargedAt = at }: Debit): number {
    const chain = this.#counted(accountId, budgets);
    const date = chain.reduce((latest, account) => Math.max(latest, account.periodStart), at);
    for (const account of chain) {
      startPeriod(account, date, this.#calendar);
      account.debitsPending -= held;
      account.debitsPosted += charge;
      if (charge >= 0n || chargedAt >= account.periodStart) account.periodDebits += charge;
      this.#touch(account);
    }
    return date;
  }

  /** Posts a credit to this account only. */
  postCredit(accountId: string, amount: Nano): void {
    const account = this.#existing(accountId);
    account.creditsPosted += amount;
    this.#touch(account);
  }

  /** Writes the changes. Call it last within the transaction. */
  flush(): void {
    for (const account of this.#changed) {
      account.changed = false;
      this.#sql.writeCounters.run(
        account.creditsPosted,
        account.debitsPosted,
        account.debitsPending,
        account.periodStart,
        account.periodDebits,
        account.minuteStart,
        account.minuteRequests,
        account.minuteTokens,
        account.openCalls,
        account.id,
      );
    }
    this.#changed.length = 0;
  }

  #touch(account: CachedAccount): void {
    if (account.changed) return;
    account.changed = true;
    this.#changed.push(account);
  }

  #chain(accountId: string): readonly CachedAccount[] {
    const known = this.#chains.get(accountId);
    if (known !== undefined) return known;
    const chain = this.#readChain(accountId);
    if (chain.length > 0) this.#chains.set(accountId, chain);
    return chain;
  }

  #counted(accountId: string, budgets: CallBudgets): readonly CachedAccount[] {
    const chain = this.#chain(accountId);
    if (budgets === undefined || chain.length === 0) return chain;
    return [...chain, ...budgets.map((id) => this.#existing(id))];
  }

  #readChain(accountId: string): readonly CachedAccount[] {
    const chain: CachedAccount[] = [];
    for (let id: string | undefined = accountId; id !== undefined;) {
      const account = this.#account(id);
      if (account === undefined) return [];
      chain.push(account);
      id = account.parentId;
    }
    const owners = chain.filter(({ hasBudgets }) => hasBudgets);
    if (owners.length > 0) {
      const all = owners.flatMap(({ id }) => this.#sql.budgets.all(id).map(readBudget));
      this.#budgets.set(accountId, { all, byModel: new Map() });
    }
    return chain;
  }

  #existing(id: string): CachedAccount {
    const account = this.#account(id);
    if (account === undefined) throw new Error(`there is no account ${id}`);
    return account;
  }

  #account(id: string): CachedAccount | undefined {
    const known = this.#accounts.get(id);
    if (known !== undefined) return known;
    const row = this.#sql.account.get(id);
    if (row === null) return undefined;
    const account = toAccount(row);
    this.#accounts.set(id, account);
    return account;
  }
}

/** Spending of an earlier period no longer counts. A clock that went back must not restore it. */
function isNewPeriod(account: CachedAccount, at: number, calendar: Calendar): boolean {
  return account.period !== undefined && periodStart(account, at, calendar) > account.periodStart;
}

function isOtherAt(account: CachedAccount, at: number, calendar: Calendar): boolean {
  return isNewPeriod(account, at, calendar) || (account.raisedUntil !== undefined && account.raisedUntil <= at);
}

function asOf(account: CachedAccount, at: number, calendar: Calendar): CachedAccount {
  if (!isOtherAt(account, at, calendar)) return account;
  return {
    ...account,
    periodDebits: isNewPeriod(account, at, calendar) ? 0n : account.periodDebits,
    ...((account.raisedUntil ?? Infinity) <= at && { raisedBy: undefined, raisedUntil: undefined }),
  };
}

/** Only a charge begins a period: a clock that is briefly wrong must not reset the spending. */
function startPeriod(account: CachedAccount, at: number, calendar: Calendar): void {
  if (!isNewPeriod(account, at, calendar)) return;
  account.periodStart = periodStart(account, at, calendar);
  account.periodDebits = 0n;
}

function toAccount(row: AccountRow): CachedAccount {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    parentId: row.parent_id ?? undefined,
    prepaid: row.prepaid === 1n,
    maxBudget: row.max_budget ?? undefined,
    period: row.period ?? undefined,
    periodFrom: row.period_from === null ? undefined : Number(row.period_from),
    raisedBy: row.raised_by ?? undefined,
    raisedUntil: row.raised_until === null ? undefined : Number(row.raised_until),
    markup: row.markup === null ? undefined : Number(row.markup),
    creditsPosted: row.credits_posted,
    debitsPosted: row.debits_posted,
    debitsPending: row.debits_pending,
    periodStart: Number(row.period_start),
    periodDebits: row.period_debits,
    minuteStart: Number(row.minute_began),
    minuteRequests: Number(row.minute_requests),
    minuteTokens: Number(row.minute_tokens),
    openCalls: Number(row.open_calls),
    hasBudgets: row.has_budgets === 1n,
    changed: false,
  };
}
