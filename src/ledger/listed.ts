import type { Nano } from "../core/index.ts";
import type { HoldKeeper } from "./operations.ts";

/** The kinds of entries in lists. A refund is stored as a settlement with a reason. */
export const entryKinds = ["settle", "release", "expire", "grant", "refund"] as const;

export type EntryKind = (typeof entryKinds)[number];

/** An entry of the books. Times are milliseconds since the epoch. */
export interface ListedEntry {
  id: string;
  kind: EntryKind;
  debitAccount: string;
  creditAccount: string;
  amount: Nano;
  held: Nano;
  shortfall: Nano;
  createdAt: number;
  actor: string | undefined;
  reason: string | undefined;
  /** The accounts of the budgets that it counts in too. */
  budgets: readonly string[] | undefined;
}

/** An open hold. */
export interface ListedHold {
  id: string;
  accountId: string;
  amount: Nano;
  operation: string;
  provider: string;
  model: string;
  /** The cost that its process has told so far. */
  observed: Nano | undefined;
  createdAt: number;
  leaseUntil: number;
  keeper: HoldKeeper;
  parent: string | undefined;
  budgets: readonly string[] | undefined;
}

interface AccountFilter {
  /** Of this account, those that followed it after moves, and all below them; undefined for all. */
  account?: string | undefined;
  /** And of this one as well. */
  within?: string | undefined;
  limit: number;
  /** The id of the last one of the page before. */
  after?: string | undefined;
}

export interface EntryFilter extends AccountFilter {
  kind?: EntryKind | undefined;
}

export type HoldFilter = AccountFilter;

export interface EntryPage {
  entries: ListedEntry[];
  /** The id of the entry at which the search for further ones has stopped, which the next page begins after; undefined at the end. */
  scannedFrom: string | undefined;
}

/** Entries of a time, all of them. */
export interface EntryPeriod extends Pick<AccountFilter, "account" | "within"> {
  /** Entries of this time or later, and before `to`, in milliseconds since the epoch. */
  from: number;
  to: number;
}

/** Lists of what the books contain. */
export interface BookLists {
  /** The latest first. A page reads a bounded number of entries, and may have fewer than its limit of those that fit. */
  entries(filter: EntryFilter): Promise<EntryPage>;
  /** Part by part, the latest first; a part may be empty. */
  parts(period: EntryPeriod): AsyncIterable<readonly ListedEntry[]>;
  /** By their ids, so the oldest first as a rule. */
  holds(filter: HoldFilter): Promise<ListedHold[]>;
}
