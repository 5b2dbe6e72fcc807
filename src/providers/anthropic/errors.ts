import type { FailureRules } from "../provider.ts";
import { keyStatuses } from "../shared/failures.ts";

/** Exhausted credit is a 400 with a general type, and only its message identifies it (`docs/wire/anthropic.md`). */
export const failures: FailureRules = {
  keyRefused: [{ statuses: [400, ...keyStatuses], codes: /^authentication_error$/ }],
  quotaGone: [
    { statuses: keyStatuses, codes: /^(?:contract|enforced)_spend_limit_reached$/ },
    { statuses: [400, ...keyStatuses], message: /^Your credit balance is too low/ },
  ],
  retryable: [],
};
