import type { FailureRules } from "../provider.ts";

/** What OpenAI and the upstreams modelled on it say. */
export const commonFailures: FailureRules = {
  keyRefused: /invalid_api_key|incorrect_api_key|invalid_authentication/,
  quotaGone: /insufficient_quota|exceeded_current_quota|credit_balance_exhausted|insufficient balance/i,
  retryable: undefined,
  retryDelayMs: () => undefined,
};
