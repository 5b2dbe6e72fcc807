/** The ends of holds on SQLite: in time, late, and of those that were left behind. */
import type { Nano } from "../../../core/index.ts";
import { availableOf, holderOfAccount, tightestAccount } from "../../accounts.ts";
import type { Outcomes, Refund, Release, Settle, StoredAnswer, Sweep } from "../../operations.ts";
import { readBudgets } from "../call-budgets.ts";
import { expiresAt } from "../answers.ts";
import type { StoredCall } from "../generations.ts";
import { costOfExpired } from "../rows.ts";
import type { AccountCache } from "./account-cache.ts";
import type { Entries } from "./entries.ts";
import { expiredCall } from "./expired-call.ts";
import type { HeldAmount, Holds } from "./holds.ts";
import type { RetryKeys } from "./retry-keys.ts";
import type { StoredEntryKind, EntryRow, LedgerStatements, SqliteHoldRow } from "./statements.ts";

/** The counter-account of every charge. */
const REVENUE = "revenue";

/** A late charge is a second, separate transfer. */
const lateId = (id: string): string => `${id}:late`;

/** The entry that gives back the charge of another. */
const refundId = (id: string): string => `${id}:refund`;

/** The end of a hold. */
interface Ending {
  kind: StoredEntryKind;
  /** The cost of the call. */
  cost: Nano;
  at: number;
  /** The tokens that the call has used; undefined keeps the expected ones of its hold. */
  tokens: number | undefined;
  /** The record of the call. */
  call: StoredCall | undefined;
  answer: StoredAnswer | undefined;
  /** Until when the answer is kept; a day by default. */
  answerUntil?: number | undefined;
}

/** The accounts that a call counts in. */
type Payer = Pick<HeldAmount, "accountId" | "budgets">;

interface EndedParts {
  accounts: AccountCache;
  holds: Holds;
  entries: Entries;
  retryKeys: RetryKeys;
}

export class Ends {
  readonly #sql: LedgerStatements;
  readonly #accounts: AccountCache;
  readonly #holds: Holds;
  readonly #entries: Entries;
  readonly #retryKeys: RetryKeys;
  /** No entry gets an earlier date; undefined if it must be read. */
  #closedBefore: number | undefined;

  constructor(sql: LedgerStatements, { accounts, holds, entries, retryKeys }: EndedParts) {
    this.#sql = sql;
    this.#accounts = accounts;
    this.#holds = holds;
    this.#entries = entries;
    this.#retryKeys = retryKeys;
  }

  /** Clears the cached state. */
  clear(): void {
    this.#closedBefore = undefined;
  }

  settle(settle: Settle): Outcomes["settle"] {
    const { id, amount: cost, at, tokens, record, answer, answerUntil } = settle;
    const hold = this.#holds.take(id);
    if (hold !== undefined) {
      const charge = this.#end(hold, { kind: "settle", cost, at, tokens, call: record, answer, answerUntil });
      return { outcome: "settled", shortfall: cost - charge };
    }
    const ended = this.#entries.find(id);
    if (ended === undefined) return { outcome: "no-hold" };
    if (ended.kind === "expire") return this.#settleLate(ended, settle);
    const same = ended.kind === "settle" && ended.amount + ended.shortfall === cost;
    return same ? { outcome: "exists", shortfall: ended.shortfall } : { outcome: "conflict" };
  }

  release(release: Release): Outcomes["release"] {
    const { id, at, record } = release;
    const hold = this.#holds.take(id);
    if (hold !== undefined) {
      this.#end(hold, { kind: "release", cost: 0n, at, tokens: 0, call: record, answer: undefined });
      return { outcome: "released" };
    }
    const ended = this.#entries.find(id);
    if (ended === undefined) return { outcome: "no-hold" };
    if (ended.kind === "release") return { outcome: "exists" };
    if (ended.kind !== "expire") return { outcome: "conflict" };
    const { outcome } = this.#settleLate(ended, { ...release, kind: "settle", amount: 0n });
    return { outcome: outcome === "settled" ? "released" : outcome };
  }

  sweep({ at }: Sweep): Outcomes["sweep"] {
    const left = this.#sql.leftHolds.all(at);
    for (const hold of left) this.#expire(hold, at);
    this.#retryKeys.forget(at);
    return { outcome: "swept", expired: left.length };
  }

  #expire(row: SqliteHoldRow, at: number): void {
    const hold = this.#holds.take(row.id);
    if (hold === undefined) return;
    const call = expiredCall(row, this.#ownerOf(row.account_id, at), at);
    this.#end(hold, { kind: "expire", cost: costOfExpired(row), at, tokens: undefined, call, answer: undefined });
  }

  /** The id of the user that an account's calls belong to. The name of the user's account may be another by now. */
  #ownerOf(accountId: string, at: number): string {
    const user = this.#sql.tokenUser.get(holderOfAccount(accountId))?.user_name;
    if (user !== undefined) return user;
    const chain = this.#accounts.chain(accountId, at);
    return (chain.find(({ kind }) => kind === "user") ?? chain[0])?.name ?? "";
  }

  /** Posts the end of a hold, returns its uncharged part, and returns the charge: as much as was available. */
  #end(hold: HeldAmount, { kind, cost, at, tokens, call, answer, answerUntil }: Ending): Nano {
    const { id, accountId: account, amount: held, budgets, retryKey } = hold;
    const charge = this.#chargeable(hold, cost, held, at);
    const date = this.#accounts.postDebit({ accountId: account, budgets, held, charge, at: this.dateOf(at) });
    const excess = tokens === undefined ? 0 : tokens - hold.tokens;
    this.#accounts.countEnd(hold, excess);
    const shortfall = cost - charge;
    this.#entries.insert(
      { id, kind, debit: account, credit: REVENUE, amount: charge, held, shortfall, at: date, budgets },
      call,
    );
    if (retryKey !== null) this.#retryKeys.end([account, retryKey, id], answer, answerUntil ?? expiresAt(at));
    return charge;
  }

  /**
   * An expired hold may still be ended by the process that was assumed dead. Nothing is held any more: the part that
   * the expiry did not charge is taken if credits are available, and an excess is returned by an entry in the other
   * direction.
   */
  #settleLate(expired: EntryRow, { id, amount, at, record }: Settle): Outcomes["settle"] {
    const account = expired.debit_account;
    const payer = { accountId: account, budgets: readBudgets(expired.budgets) };
    const late = this.#entries.find(lateId(id));
    if (this.#entries.find(refundId(id)) !== undefined)
      return { outcome: "exists", shortfall: (late ?? expired).shortfall };
    if (late !== undefined) {
      const back = late.debit_account === REVENUE;
      const same = expired.amount + (back ? -late.amount : late.amount) + late.shortfall === amount;
      return same ? { outcome: "exists", shortfall: late.shortfall } : { outcome: "conflict" };
    }
    const due = amount - expired.amount;
    const charge = this.#chargeable(payer, due, 0n, at);
    const chargedAt = Number(expired.created_at);
    const date = this.#accounts.postDebit({ ...payer, held: 0n, charge, at: this.dateOf(at), chargedAt });
    const [debit, credit] = charge < 0n ? [REVENUE, account] : [account, REVENUE];
    const absolute = charge < 0n ? -charge : charge;
    const shortfall = due - charge;
    const amounts = { amount: absolute, held: 0n, shortfall };
    this.#entries.insert({
      id: lateId(id),
      kind: "settle",
      debit,
      credit,
      ...amounts,
      at: date,
      corrects: expired,
      ...payer,
    });
    const credits = expired.amount + charge;
    if (record === undefined) this.#entries.correctCredits(expired, credits);
    else this.#entries.replaceCall(expired, record, credits);
    return { outcome: "settled", shortfall };
  }

  /** Gives back a charge: what is left of the entry that ended the call, and what a late end charged beyond that. */
  refund({ id, at, actor, reason }: Refund): Outcomes["refund"] {
    if (this.#holds.find(id) !== undefined) return { outcome: "running" };
    const ended = this.#entries.find(id);
    // A late end and a refund are entries of their own, but no calls.
    if (ended === undefined || ended.kind === "grant" || ended.corrects_at !== null) return { outcome: "no-call" };
    const late = ended.kind === "expire" ? this.#entries.find(lateId(id)) : undefined;
    const isReturn = late?.debit_account === REVENUE;
    const charges = [{ charge: ended, amount: ended.amount - (isReturn ? late.amount : 0n) }];
    if (late !== undefined && !isReturn) charges.push({ charge: late, amount: late.amount });
    const amount = charges.reduce((sum, each) => sum + each.amount, 0n);
    if (this.#entries.find(refundId(id)) !== undefined) return { outcome: "exists", amount };
    if (amount === 0n) return { outcome: "free" };
    const payer = { accountId: ended.debit_account, budgets: readBudgets(ended.budgets) };
    for (const { charge, amount: part } of charges) {
      const chargedAt = Number(charge.created_at);
      const debit = { ...payer, held: 0n, charge: -part, at: this.dateOf(at), chargedAt };
      const date = this.#accounts.postDebit(debit);
      const entry = {
        id: refundId(charge.id),
        kind: "settle",
        debit: REVENUE,
        credit: payer.accountId,
        amount: part,
      } as const;
      const corrects = { created_at: charge.created_at };
      this.#entries.insert({
        ...entry,
        held: 0n,
        shortfall: 0n,
        at: date,
        corrects,
        actor,
        reason,
        budgets: payer.budgets,
      });
    }
    this.#entries.correctCredits(ended, 0n);
    return { outcome: "refunded", amount };
  }

  /** The date of an entry: never before the closing of the books, whatever its node's clock or journal says. */
  dateOf(at: number): number {
    this.#closedBefore ??= Number(this.#sql.state.get()?.closed_before ?? 0n);
    return at < this.#closedBefore ? this.#closedBefore : at;
  }

  /** The chargeable part of `amount`: everything that was held, and beyond it what its accounts have available. */
  #chargeable({ accountId, budgets }: Payer, amount: Nano, held: Nano, at: number): Nano {
    if (amount <= held) return amount;
    const tightest = tightestAccount(this.#accounts.chain(accountId, at, budgets));
    const room = tightest && availableOf(tightest);
    if (room === undefined || amount - held <= room) return amount;
    return held + (room > 0n ? room : 0n);
  }
}
