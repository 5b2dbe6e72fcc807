import type { FailureRules } from "../provider.ts";
import { keyStatuses } from "../shared/failures.ts";

/** Errors are a sentence in `detail`. */
export const failures: FailureRules = {
  keyRefused: [{ statuses: keyStatuses, message: /^(?:Invalid|Missing) API key/i }],
  quotaGone: [{ statuses: keyStatuses, message: /insufficient (?:account )?balance/i }],
  modelGone: [{ statuses: [400, 404, 422], message: /^Model \S+ not found/i }],
  contextWindow: [],
  contentPolicy: [],
  retryable: [],
};
