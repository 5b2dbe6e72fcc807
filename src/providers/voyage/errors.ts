import type { FailureRules } from "../provider.ts";
import { keyStatuses } from "../shared/failures.ts";

/** Errors are a sentence in `detail`. */
export const failures: FailureRules = {
  keyRefused: [{ statuses: keyStatuses, message: /^Provided API key is invalid/ }],
  quotaGone: [],
  modelGone: [{ statuses: [400, 404], message: /^Model \S+ is not supported/ }],
  contextWindow: [{ statuses: [400], message: /exceeds? (?:the )?(?:max|context)/i }],
  contentPolicy: [],
  retryable: [],
};
