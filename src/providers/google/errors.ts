import type { FailureRules } from "../provider.ts";

/** An invalid key is a 400 here; the compatible layer may leave the reason out. A day's quota is a 429 like a minute's. */
export const failures: FailureRules = {
  keyRefused: [{ statuses: [400, 401, 403], codes: /^API_KEY_INVALID$/, message: /^API key not valid\./ }],
  quotaGone: [{ statuses: [429], codes: /PerDay/ }],
  retryable: [],
};
