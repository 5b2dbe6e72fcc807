import type { FailureRules } from "../provider.ts";
import { commonFailures } from "../shared/failures.ts";

/**
 * DeepSeek's 402 has no word of its own; Moonshot and Groq say "overloaded" under statuses of theirs
 * (`docs/wire/others.md`).
 */
export const failures: FailureRules = {
  ...commonFailures,
  quotaGone: [...commonFailures.quotaGone, { statuses: [402], message: /^Insufficient Balance/i }],
  retryable: [{ statuses: [429, 498, 503], codes: /^(?:engine_overloaded_error|capacity_exceeded)$/ }],
};
