export type { Crossing } from "./alert.ts";
export { AlertBook } from "./alert-book.ts";
export { AlertJobs } from "./alert-jobs.ts";
export { Conditions } from "./conditions/conditions.ts";
export { reportConditions } from "./conditions/from-reports.ts";
export { storageConditions } from "./conditions/from-storage.ts";
export { ProcessCounts } from "./process-counts.ts";
export { ALERT_JOB } from "./sending/message.ts";
export { openAlertStore } from "./sql/open.ts";
