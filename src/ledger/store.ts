import type { Calendar, Nano } from "../core/index.ts";
import type { Account, AccountState } from "./accounts.ts";
import type { AuditReport, LedgerBooks } from "./books.ts";
import type { Hold, HoldKeeper, HoldOutcomes, LedgerOperation, LedgerOutcome, RetryKey } from "./operations.ts";

/** A hold that has not ended. */
export interface OpenHold {
  id: string;
  accountId: string;
  amount: Nano;
  /** `<operation> <provider>/<model>` */
  description: string;
  observed: Nano | undefined;
  createdAt: number;
  leaseUntil: number;
  keeper: HoldKeeper;
}

/** A retry key as a hold would claim it. */
export interface ClaimedKey extends Pick<Hold, "accountId" | "at"> {
  retry: RetryKey;
}

/** The outcome of a hold whose retry key is taken. */
export type TakenKey = HoldOutcomes["replayed" | "retry"];

/** The interface of the ledger's storage; one conformance suite tests every engine. */
export interface LedgerStore {
  /** The days of the storage's time zone: those on which budgets restart. */
  readonly calendar: Calendar;
  readonly books: LedgerBooks;
  /**
   * Applies the operations in order, in one atomic and durable commit, and returns their outcomes in the same order. A
   * refused operation changes nothing and does not affect the others. Throws if the store cannot commit: then none was
   * applied.
   */
  commit(operations: readonly LedgerOperation[]): LedgerOutcome[] | Promise<LedgerOutcome[]>;
  /**
   * What a hold with this retry key would be answered, and whether the hold that has claimed it is open: an answer may be
   * there before. Undefined if the key is free.
   */
  takenKey(key: ClaimedKey): Promise<{ taken: TakenKey; isRunning: boolean } | undefined>;
  /** Creates the account if it does not exist; an existing one stays unchanged, whatever its parent and limits. */
  createAccount(account: Account, at: number): Promise<void>;
  /** Creates the account, or sets the limits of an existing one. Never changes counters or the parent. */
  putAccount(account: Account, at: number): Promise<void>;
  /** The account and its parents, from the token upwards; empty if it does not exist. */
  chain(accountId: string, at: number): Promise<AccountState[]>;
  /** Every account, by id. */
  listAccounts(at: number): Promise<AccountState[]>;
  /** Oldest first. */
  openHolds(): Promise<OpenHold[]>;
  /** The audit of `books`. */
  audit(): Promise<AuditReport>;
}
