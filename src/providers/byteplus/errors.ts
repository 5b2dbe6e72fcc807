import type { FailureRules } from "../provider.ts";
import { keyStatuses } from "../shared/failures.ts";

/** Codes are dotted words, refined by a suffix; overload is a 429, one 400 passes by itself (`docs/wire/byteplus.md`). */
export const failures: FailureRules = {
  keyRefused: [{ statuses: keyStatuses, word: /^AuthenticationError/ }],
  quotaGone: [{ statuses: keyStatuses, word: /^(?:SetLimitExceeded|AccountOverdueError|QuotaExceeded)/ }],
  retryable: [
    { statuses: [400], word: /^ContentSecurityDetectionError/ },
    { statuses: [429], word: /^ServerOverloaded/ },
  ],
};
