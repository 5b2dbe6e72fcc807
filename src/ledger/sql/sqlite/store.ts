import type { Database } from "bun:sqlite";
import type { Nano } from "../../../core/index.ts";
import { type Account, type AccountState, roomOf, tightestLink } from "../../accounts.ts";
import type {
  Grant,
  Hold,
  LedgerOperation,
  LedgerOutcome,
  Outcomes,
  Release,
  Renew,
  Settle,
  Sweep,
} from "../../operations.ts";
import type { AuditReport, LedgerStore, OpenHold } from "../../store.ts";
import { AUDIT_ACCOUNTS, AUDIT_TOTALS, type AuditRow, type AuditTotals, auditReport } from "../audit.ts";
import { type HoldRow, toOpenHold } from "../rows.ts";
import { AccountCache, readAccount } from "./account-cache.ts";
import {
  type AccountValues,
  type EntryKind,
  type EntryRow,
  type LedgerStatements,
  prepareStatements,
} from "./statements.ts";

/** The other side of every grant and of every charge. */
const BANK = "bank";
const REVENUE = "revenue";

/** A late charge is a second, separate transfer. */
const lateId = (id: string): string => `${id}:late`;

/**
 * The ledger on SQLite. A commit is one `BEGIN IMMEDIATE` transaction: no other process can write between the check of
 * a chain's room and the hold, so that a limit is hard whoever else uses the file.
 */
export class SqliteLedgerStore implements LedgerStore {
  readonly #database: Database;
  readonly #sql: LedgerStatements;
  readonly #accounts: AccountCache;
  readonly #transaction: { immediate: (operations: readonly LedgerOperation[]) => LedgerOutcome[] };

  constructor(database: Database) {
    this.#database = database;
    this.#sql = prepareStatements(database);
    this.#accounts = new AccountCache(this.#sql);
    this.#transaction = database.transaction((operations: readonly LedgerOperation[]) => {
      this.#accounts.begin();
      const outcomes = operations.map((operation) => this.#apply(operation));
      this.#accounts.flush();
      return outcomes;
    });
  }

  commit(operations: readonly LedgerOperation[]): LedgerOutcome[] {
    try {
      return this.#transaction.immediate(operations);
    } catch (reason) {
      this.#accounts.clear();
      throw reason;
    }
  }

  #apply(operation: LedgerOperation): LedgerOutcome {
    switch (operation.kind) {
      case "hold":
        return this.#hold(operation);
      case "settle":
        return this.#settle(operation);
      case "release":
        return this.#release(operation);
      case "renew":
        return this.#renew(operation);
      case "grant":
        return this.#grant(operation);
      case "sweep":
        return this.#sweep(operation);
    }
  }

  #hold({ id, accountId, amount, purpose, leaseUntil, at }: Hold): Outcomes["hold"] {
    const chain = this.#accounts.chain(accountId, at);
    if (chain.length === 0) return { outcome: "no-account" };
    const before = this.#sql.insertHold.run(id, accountId, amount, purpose, leaseUntil, at).changes === 0;
    if (before) return { outcome: this.#heldBefore(id, accountId, amount) ? "exists" : "conflict" };
    const tightest = tightestLink(chain);
    const room = tightest && roomOf(tightest);
    if (tightest !== undefined && room !== undefined && room < amount) {
      this.#sql.takeHold.run(id);
      return { outcome: "insufficient", accountId: tightest.id, available: room };
    }
    this.#accounts.setAside(accountId, amount);
    return { outcome: "held" };
  }

  /** Whether the hold that was there before, open or ended, is the same. */
  #heldBefore(id: string, accountId: string, amount: Nano): boolean {
    const open = this.#sql.hold.get(id);
    if (open !== null) return open.account_id === accountId && open.amount === amount;
    const ended = this.#sql.entry.get(id);
    return ended?.debit_account === accountId && ended.held === amount;
  }

  #settle(settle: Settle): Outcomes["settle"] {
    const hold = this.#sql.takeHold.get(settle.id);
    if (hold !== null) return { outcome: "settled", shortfall: this.#end(hold, "settle", settle.amount, settle.at) };
    const ended = this.#sql.entry.get(settle.id);
    if (ended === null) return { outcome: "no-hold" };
    if (ended.kind === "expire") return this.#settleLate(ended, settle);
    const same = ended.kind === "settle" && ended.amount + ended.shortfall === settle.amount;
    return same ? { outcome: "exists", shortfall: ended.shortfall } : { outcome: "conflict" };
  }

  #release({ id, at }: Release): Outcomes["release"] {
    const hold = this.#sql.takeHold.get(id);
    if (hold !== null) {
      this.#end(hold, "release", 0n, at);
      return { outcome: "released" };
    }
    const ended = this.#sql.entry.get(id);
    if (ended === null) return { outcome: "no-hold" };
    if (ended.kind === "release") return { outcome: "exists" };
    if (ended.kind !== "expire") return { outcome: "conflict" };
    const { outcome } = this.#settleLate(ended, { kind: "settle", id, amount: 0n, at });
    return { outcome: outcome === "settled" ? "released" : outcome };
  }

  #renew({ id, leaseUntil, observed }: Renew): Outcomes["renew"] {
    const { changes } = this.#sql.renewHold.run(leaseUntil, observed ?? null, id);
    return { outcome: changes === 0 ? "ended" : "renewed" };
  }

  #grant({ id, accountId, amount, at }: Grant): Outcomes["grant"] {
    const existing = this.#sql.entry.get(id);
    if (existing !== null) {
      const same = existing.kind === "grant" && existing.credit_account === accountId && existing.amount === amount;
      return { outcome: same ? "exists" : "conflict" };
    }
    if (this.#accounts.chain(accountId, at).length === 0) return { outcome: "no-account" };
    this.#accounts.postCredit(accountId, amount);
    this.#sql.insertEntry.run(id, "grant", BANK, accountId, amount, 0n, 0n, at);
    return { outcome: "granted" };
  }

  #sweep({ at }: Sweep): Outcomes["sweep"] {
    const left = this.#sql.leftHolds.all(at);
    for (const hold of left) {
      this.#sql.takeHold.run(hold.id);
      this.#end(hold, "expire", hold.observed ?? 0n, at);
    }
    return { outcome: "swept", expired: left.length };
  }

  /** Posts the end of a hold with a charge of `amount`, and gives back what there was no room for. */
  #end(hold: HoldRow, kind: EntryKind, amount: Nano, at: number): Nano {
    const { id, account_id: account, amount: held } = hold;
    const charge = this.#chargeable(account, amount, held, at);
    this.#accounts.postDebit(account, held, charge, at);
    this.#sql.insertEntry.run(id, kind, account, REVENUE, charge, held, amount - charge, at);
    return amount - charge;
  }

  /**
   * An expired hold may still be ended by the process that was thought dead. Nothing is set aside any more: what expiry
   * did not charge is taken where there is room, what it charged too much comes back as an entry the other way.
   */
  #settleLate(expired: EntryRow, { id, amount, at }: Settle): Outcomes["settle"] {
    const account = expired.debit_account;
    const late = this.#sql.entry.get(lateId(id));
    if (late !== null) {
      const back = late.debit_account === REVENUE;
      const same = expired.amount + (back ? -late.amount : late.amount) + late.shortfall === amount;
      return same ? { outcome: "exists", shortfall: late.shortfall } : { outcome: "conflict" };
    }
    const due = amount - expired.amount;
    const charge = this.#chargeable(account, due, 0n, at);
    this.#accounts.postDebit(account, 0n, charge, at);
    const [debit, credit] = charge < 0n ? [REVENUE, account] : [account, REVENUE];
    this.#sql.insertEntry.run(
      lateId(id),
      "settle",
      debit,
      credit,
      charge < 0n ? -charge : charge,
      0n,
      due - charge,
      at,
    );
    return { outcome: "settled", shortfall: due - charge };
  }

  /** How much of `amount` can be charged: all that was held, and beyond it what the chain has room for. */
  #chargeable(accountId: string, amount: Nano, held: Nano, at: number): Nano {
    if (amount <= held) return amount;
    const tightest = tightestLink(this.#accounts.chain(accountId, at));
    const room = tightest && roomOf(tightest);
    if (room === undefined || amount - held <= room) return amount;
    return held + (room > 0n ? room : 0n);
  }

  createAccount(account: Account, at: number): Promise<void> {
    this.#sql.createAccount.run(...accountValues(account, at));
    return Promise.resolve();
  }

  putAccount(account: Account, at: number): Promise<void> {
    this.#sql.putAccount.run(...accountValues(account, at));
    this.#accounts.clear();
    return Promise.resolve();
  }

  chain(accountId: string, at: number): Promise<AccountState[]> {
    this.#accounts.begin();
    return Promise.resolve(this.#accounts.chain(accountId, at).map(toAccountState));
  }

  listAccounts(at: number): Promise<AccountState[]> {
    return Promise.resolve(this.#sql.accounts.all().map((row) => toAccountState(readAccount(row, at))));
  }

  openHolds(): Promise<OpenHold[]> {
    return Promise.resolve(this.#sql.openHolds.all().map(toOpenHold));
  }

  audit(): Promise<AuditReport> {
    const report = this.#database.transaction((): AuditReport => {
      const rows = this.#database.query<AuditRow, []>(AUDIT_ACCOUNTS).all();
      return auditReport(rows, this.#database.query<AuditTotals, []>(AUDIT_TOTALS).get());
    });
    return Promise.resolve(report.deferred());
  }
}

function accountValues(account: Account, at: number): AccountValues {
  const { id, kind, name, parentId, prepaid, maxBudget, period } = account;
  return [id, kind, name, parentId ?? null, prepaid ? 1 : 0, maxBudget ?? null, period ?? null, at];
}

/** A copy without what only the cache knows. */
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
