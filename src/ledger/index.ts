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
export { Ledger, type LedgerOptions } from "./ledger.ts";
export type {
  Grant,
  Hold,
  LedgerOperation,
  LedgerOutcome,
  OutcomeOf,
  Release,
  Renew,
  Settle,
  Sweep,
} from "./operations.ts";
export { openLedgerStore } from "./sql/open.ts";
export type { AuditReport, Drift, LedgerStore, OpenHold } from "./store.ts";
export { startSweeper } from "./sweeper.ts";
