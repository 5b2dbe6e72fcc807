import type { Nano } from "../core/index.ts";
import type { Account, AccountState } from "./accounts.ts";
import type { HoldKeeper, LedgerOperation, LedgerOutcome } from "./operations.ts";

/** A hold that has not ended. */
export interface OpenHold {
  id: string;
  accountId: string;
  amount: Nano;
  description: string;
  observed: Nano | undefined;
  createdAt: number;
  leaseUntil: number;
  keeper: HoldKeeper;
}

/** An account whose counters don't follow from its entries and open holds. */
export interface Drift {
  accountId: string;
  counter: "credits_posted" | "debits_posted" | "debits_pending" | "open_calls";
  recorded: Nano;
  recomputed: Nano;
}

/** What a recomputation of every account found. */
export interface AuditReport {
  accounts: number;
  entries: number;
  openHolds: number;
  shortfall: Nano;
  drifts: Drift[];
}

/** What the ledger needs from a storage engine; the same for all, held to it by one conformance suite. */
export interface LedgerStore {
  /**
   * Applies the operations in their order, in one atomic and durable commit, and gives each its outcome in the same
   * order. A refused operation changes nothing and doesn't hinder its neighbours. Throws where the store can't commit:
   * then none was applied.
   */
  commit(operations: readonly LedgerOperation[]): LedgerOutcome[] | Promise<LedgerOutcome[]>;
  /** Creates the account where there is none; one that is there stays as it is, whatever its parent and limits. */
  createAccount(account: Account, at: number): Promise<void>;
  /** Creates the account, or sets the limits of the one that is there. Never changes counters or the parent. */
  putAccount(account: Account, at: number): Promise<void>;
  /** The account and its parents, from the token upwards; empty where there is none. */
  chain(accountId: string, at: number): Promise<AccountState[]>;
  /** Every account, by id. */
  listAccounts(at: number): Promise<AccountState[]>;
  /** Oldest first. */
  openHolds(): Promise<OpenHold[]>;
  /** Recomputes every counter from the entries and open holds. */
  audit(): Promise<AuditReport>;
}
