export {
  type Account,
  type AccountKind,
  type AccountState,
  accountId,
  type BudgetPeriod,
  periodEnd,
  roomOf,
  tightestLink,
} from "./accounts.ts";
export { Ledger, type LedgerOptions, type Waiting } from "./ledger.ts";
export type {
  CallRecord,
  Grant,
  Hold,
  KeptAnswer,
  LedgerOperation,
  LedgerOutcome,
  OutcomeOf,
  RateLimits,
  RateState,
  Release,
  Renew,
  RetryKey,
  Settle,
  Sweep,
  TopUp,
} from "./operations.ts";
export { openLedgerStore } from "./sql/open.ts";
export type { AuditReport, Drift, LedgerStore, OpenHold } from "./store.ts";
export { startSweeper } from "./sweeper.ts";
