import type { FailureRules } from "../provider.ts";
import { keyStatuses } from "../shared/failures.ts";

/** Codes are dotted words that a suffix refines; overload is a 429, and one 400 passes by itself (`wire/byteplus`). */
export const failures: FailureRules = {
  keyRefused: [{ statuses: keyStatuses, word: /^AuthenticationError/ }],
  quotaGone: [{ statuses: keyStatuses, word: /^(?:SetLimitExceeded|AccountOverdueError|QuotaExceeded)/ }],
  retryable: [
    { statuses: [400], word: /^ContentSecurityDetectionError/ },
    { statuses: [429], word: /^ServerOverloaded/ },
  ],
};
