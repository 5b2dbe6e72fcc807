import type { FailureRules } from "../provider.ts";

/**
 * An invalid key is a 400; the compatible layer may omit the reason. Daily quotas are a 429, as are those per minute.
 */
export const failures: FailureRules = {
  keyRefused: [{ statuses: [400, 401, 403], codes: /^API_KEY_INVALID$/, message: /^API key not valid\./ }],
  quotaGone: [{ statuses: [429], codes: /PerDay/ }],
  modelGone: [{ statuses: [404], message: /^models\/\S+ is (?:not found|no longer available)/ }],
  contextWindow: [{ statuses: [400], message: /^The input token count/ }],
  contentPolicy: [],
  retryable: [],
};
