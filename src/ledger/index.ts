export {
  type Account,
  type AccountKind,
  type AccountState,
  accountId,
  availableOf,
  holderOfAccount,
  accountsBefore,
  movedAccountId,
  tightestAccount,
} from "./accounts.ts";
export { type BudgetPeriod, periodEnd } from "./periods.ts";
export { Ledger, type QueuedOperation } from "./ledger.ts";
export type {
  AttemptRecord,
  CallRecord,
  Grant,
  Hold,
  HoldKeeper,
  KeepAnswer,
  StoredAnswer,
  LedgerOperation,
  LedgerOutcome,
  Move,
  OutcomeOf,
  Park,
  ParkedJob,
  RateState,
  Refund,
  Release,
  Renew,
  RetryKey,
  SeenRates,
  Settle,
  TopUp,
} from "./operations.ts";
export { plainCommit } from "./sql/postgres/plain-commit-function.ts";
export { openLedgerStore } from "./sql/open.ts";
export { PostgresLedgerStore } from "./sql/postgres/store.ts";
export { openBookLists } from "./sql/book-lists.ts";
export {
  columnBuckets,
  firstTokenBounds,
  firstTokenColumns,
  firstTokenCounts,
  firstTokenValues,
  unitColumns,
  unknownBuckets,
} from "./sql/sums/sum-columns.ts";
export { countingCalls, UTC_DAY } from "./sql/sums/sqlite-sums.ts";
export { openSpendingReader } from "./sql/spending.ts";
export { LedgerSteps } from "./sql/steps.ts";
export { type AuditReport, type Drift, type HeldNow, moneyCounters } from "./books.ts";
export { BooksError, exportBooks, removeEntries, type RetentionStore, sealBooks } from "./retention.ts";
export type { LedgerStore, OpenHold } from "./store.ts";
export {
  type BookLists,
  type EntryKind,
  entryKinds,
  type EntryPeriod,
  type ListedEntry,
  type ListedHold,
} from "./listed.ts";
export type { SpendingReader, SpentBalance } from "./spending.ts";
export { startSweeper } from "./sweeper.ts";
