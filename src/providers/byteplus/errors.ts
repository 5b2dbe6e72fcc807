import type { FailureRules } from "../provider.ts";

/** Codes are dotted words that a suffix refines; overload is a 429, and one 400 passes by itself (`wire/byteplus`). */
export const failures: FailureRules = {
  keyRefused: /"AuthenticationError/,
  quotaGone: /"(?:SetLimitExceeded|AccountOverdueError|QuotaExceeded)/,
  retryable: /"(?:ContentSecurityDetectionError|ServerOverloaded)/,
  retryDelayMs: () => undefined,
};
