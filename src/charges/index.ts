export { admitFree, type AdmitFree } from "./admit-free.ts";
export type { EndDependencies, WorkDependencies } from "./dependencies.ts";
export { durably, endHold } from "./end-hold.ts";
export { EndJournal } from "./end-journal.ts";
export {
  abandonedUsage,
  exceedsWindow,
  likelyInput,
  resolveUsage,
  sumOf,
  withEstimate,
  withPassed,
} from "./estimate.ts";
export { guardObservers } from "./observers/guard-observers.ts";
export type { AnswerAhead } from "./retry/answered-work.ts";
export { keepAnswer } from "./retry/keep-answer.ts";
export { logObserver } from "./observers/log-observer.ts";
export { refuseChargeMax } from "./max-credits.ts";
export { openUnkeyed, openWork } from "./open-work.ts";
export { outputHold } from "./output-hold.ts";
export type { ParkedWork } from "./parked-work.ts";
export { resumeWork } from "./resume-work.ts";
export { charged, failedEnd, outcomeOf } from "./shell/end-of-work.ts";
export type { PaidAnswer, PaidClient, PaidRequest, Planning, WorkPlan } from "./shell/paid-request.ts";
export { RunningWork, type WorkResult } from "./shell/running-work.ts";
export type { BatchedCall, BatchedReply, BatchedRequest, HeldCall } from "./shell/batched-call.ts";
export { CallWatchdog } from "./shell/watchdog.ts";
export type { WayOfWork } from "./shell/way-of-work.ts";
export { type ShellDependencies, WorkShell } from "./shell/work-shell.ts";
export { StoredBody } from "./retry/stored-answer.ts";
export type { Allowance } from "./top-ups.ts";
export { expectedCost, WorkCost } from "./work-cost.ts";
export { Work } from "./work.ts";
export type { ContentSink, ContentTaker } from "./observers/content.ts";
export type { AttemptReport, CommitReport, WorkObserver, WorkReport } from "./observers/work-observer.ts";
export type { WorkNames, WorkOrder } from "./work-order.ts";
