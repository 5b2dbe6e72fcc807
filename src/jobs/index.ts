export type { JobHandler, JobResult } from "./handler.ts";
export { JobRunner } from "./runner.ts";
export { openJobStore } from "./sql/open.ts";
export type { Job, JobLease, JobStore, LeasedJob, NewJob } from "./store.ts";
