export type { JobHandler, JobResult } from "./handler.ts";
export { keepLease, type LeaseKeeping, renewLease } from "./keep-lease.ts";
export { leaseToken, newLease } from "./lease.ts";
export { runClaimed } from "./run-claimed.ts";
export { JobRunner } from "./runner.ts";
export { hurryJob, insertJob, openJobStore } from "./sql/open.ts";
export type { Job, JobLease, JobStore, LeasedJob, ListedJob, NewJob, WaitingJobs } from "./store.ts";
