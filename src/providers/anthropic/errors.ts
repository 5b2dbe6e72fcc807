import type { FailureRules } from "../provider.ts";
import { keyStatuses } from "../shared/failures.ts";

/** Spent credit is a 400 with the type of any bad request: its sentence alone tells (`docs/wire/anthropic.md`). */
export const failures: FailureRules = {
  keyRefused: [{ statuses: [400, ...keyStatuses], word: /^authentication_error$/ }],
  quotaGone: [
    { statuses: keyStatuses, word: /^(?:contract|enforced)_spend_limit_reached$/ },
    { statuses: [400, ...keyStatuses], sentence: /^Your credit balance is too low/ },
  ],
  retryable: [],
};
