import type { FailureRules } from "../provider.ts";
import { keyStatuses } from "../shared/failures.ts";

/** Exhausted credit is a 400 with a general type, and only its message identifies it (`docs/wire/anthropic.md`). */
export const failures: FailureRules = {
  keyRefused: [{ statuses: [400, ...keyStatuses], codes: /^authentication_error$/ }],
  quotaGone: [
    { statuses: keyStatuses, codes: /^(?:contract|enforced)_spend_limit_reached$/ },
    { statuses: [400, ...keyStatuses], message: /^Your credit balance is too low/ },
  ],
  modelGone: [{ statuses: [404], message: /^model: / }],
  contextWindow: [
    { statuses: [400], message: /^(?:prompt is too long|input length and `max_tokens` exceed context limit)/ },
  ],
  // A refusal is an answer with a status of success.
  contentPolicy: [{ statuses: [400], message: /^Output blocked by content filtering policy/ }],
  retryable: [],
};
