import type { FailureRules } from "../provider.ts";
import { keyStatuses } from "../shared/failures.ts";

/** The status of a token that is not valid (docs/wire/rerank.md). */
const INVALID_TOKEN = 498;

/** Errors are one sentence, without a code. */
export const failures: FailureRules = {
  keyRefused: [{ statuses: [INVALID_TOKEN, ...keyStatuses], message: /^(?:invalid api token|no api key supplied)/i }],
  quotaGone: [{ statuses: keyStatuses, message: /^(?:You are past the per month request limit|.*\bbilling\b)/ }],
  modelGone: [{ statuses: [400, 404], message: /^model '[^']*' not found/ }],
  contextWindow: [{ statuses: [400], message: /^too many tokens/ }],
  contentPolicy: [],
  retryable: [],
};
