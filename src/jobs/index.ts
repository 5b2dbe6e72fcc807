export type { JobHandler, JobResult } from "./handler.ts";
export { keepLease, type LeaseKeeping, renewLease } from "./keep-lease.ts";
export { JobRunner } from "./runner.ts";
export { openJobStore } from "./sql/open.ts";
export type { Job, JobLease, JobStore, LeasedJob, NewJob } from "./store.ts";
