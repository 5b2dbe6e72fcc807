export { RETENTION_JOB, RetentionJob } from "./retention-job.ts";
export { type RetentionSettings, type RetentionStep, runStep, type StepOutcome } from "./steps.ts";
