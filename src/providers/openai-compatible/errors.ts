import type { FailureRules } from "../provider.ts";
import { commonFailures } from "../shared/failures.ts";

/**
 * DeepSeek's 402 has no specific code. Moonshot and Groq report overload under different statuses
 * (`docs/wire/others.md`).
 */
export const failures: FailureRules = {
  ...commonFailures,
  quotaGone: [...commonFailures.quotaGone, { statuses: [402], message: /^Insufficient Balance/i }],
  retryable: [{ statuses: [429, 498, 503], codes: /^(?:engine_overloaded_error|capacity_exceeded)$/ }],
};
