import type { Nano } from "../core/index.ts";

/**
 * The retention of the books. Entries before a date are **sealed**: an opening balance of every account contains them,
 * and no entry gets an earlier date any more. The audit then begins with the opening balances, and the sealed entries
 * can be exported and removed while gateways run. The sums of their days remain.
 */
export interface LedgerBooks {
  state(): Promise<BooksState>;
  /** The open holds of all processes together. */
  held(): Promise<HeldNow>;
  /** Recomputes every counter and every sum from the opening balances, the later entries and the open holds. */
  audit(): Promise<AuditReport>;
  /** From now on, no entry gets a date before this one. */
  close(before: number): Promise<void>;
  /** The opening balances of all entries before a date, which must be closed. Reads one snapshot; changes nothing. */
  openingsBefore(before: number): Promise<Openings>;
  /** Stores opening balances; false if another process has sealed the books since they were read. */
  seal(openings: Openings): Promise<boolean>;
  /** Whether there are entries from `from` until before `before`. */
  hasEntries(from: number, before: number): Promise<boolean>;
  /** Entries from `from` until before `before`, page by page, roughly by age. */
  pages(from: number, before: number): AsyncIterable<readonly ExportedEntry[]>;
  /** Allows the removal of sealed entries before a date. */
  allowRemoval(before: number): Promise<void>;
  /**
   * Removes the entries whose removal is allowed and the records of their calls, batch by batch; yields the number of
   * those that each transaction removed.
   */
  removals(): AsyncIterable<number>;
}

/** All holds that are open. */
export interface HeldNow {
  open: number;
  amount: Nano;
  /** When the oldest was taken, in milliseconds since the epoch; undefined if none is open. */
  oldestAt: number | undefined;
}

/** Dates in milliseconds since the epoch; zero for none. */
export interface BooksState {
  /** No new entry gets an earlier date. */
  closedBefore: number;
  /** Earlier entries are in the opening balances. */
  sealedBefore: number;
  /** Earlier entries may be gone. */
  removedBefore: number;
}

/** The counters of an account from sealed entries. */
export interface Opening {
  accountId: string;
  creditsPosted: Nano;
  debitsPosted: Nano;
  /** The period of the account's budget, and its spending by then. */
  periodStart: number;
  periodDebits: Nano;
}

export interface Openings {
  before: number;
  /** The date up to which they were known before. */
  sealedBefore: number;
  openings: Opening[];
  /** Of all sealed entries. */
  entries: number;
  shortfall: Nano;
}

/** A counter of an account that does not match its entries and open holds, or a sum that does not match its calls or days. */
export interface Drift {
  accountId: string;
  counter: (typeof moneyCounters)[number] | "open_calls" | `usage_${string}`;
  recorded: bigint;
  recomputed: bigint;
  /** Of a sum: its day or month, owner and model, and the bucket of units. */
  place?: string;
}

/** Counters in nano-credits; the others are plain numbers. */
export const moneyCounters = [
  "credits_posted",
  "debits_posted",
  "debits_pending",
  "period_debits",
  "usage_credits",
] as const;

/** The result of recomputing every account. */
export interface AuditReport {
  accounts: number;
  /** Entries that were read: those since the books were sealed. */
  entries: number;
  openHolds: number;
  /** The unpaid part of all calls, sealed ones included. */
  shortfall: Nano;
  drifts: Drift[];
  /** The date of the opening balances that the audit began with. */
  sealedBefore?: number;
}

/** An entry as it is exported: its columns, with the record of the call that it ended. */
export interface ExportedEntry {
  id: string;
  kind: string;
  debitAccount: string;
  creditAccount: string;
  amount: Nano;
  held: Nano;
  shortfall: Nano;
  createdAt: number;
  correctsAt: number | undefined;
  /** Of a grant or a refund. */
  actor: string | undefined;
  reason: string | undefined;
  call: ExportedCall | undefined;
}

interface ExportedCall {
  owner: string;
  operation: string;
  dialect: string | undefined;
  provider: string;
  model: string;
  streamed: boolean;
  status: number;
  outcome: string;
  /** JSON. */
  usage: string;
  inputTokens: number;
  outputTokens: number;
  credits: Nano;
  /** Undefined in records of older versions and of processes that died. */
  listCredits: Nano | undefined;
  milliseconds: number;
  millisecondsToFirstByte: number | undefined;
  startedAt: number;
  parent: string | undefined;
  session: string | undefined;
  route: string | undefined;
  upstreamRequestId: string | undefined;
  /** JSON. */
  attempts: string | undefined;
  clientRequestId: string | undefined;
  endUser: string | undefined;
  /** JSON. */
  tags: string | undefined;
  errorCode: string | undefined;
}
