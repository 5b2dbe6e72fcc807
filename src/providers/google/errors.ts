import type { FailureRules } from "../provider.ts";

/** An invalid key is a 400 here, and the wait before another try is in the body, not in a header. */
export const failures: FailureRules = {
  keyRefused: /API_KEY_INVALID|API key not valid/,
  quotaGone: /PerDay/,
  retryable: undefined,
  retryDelayMs(body) {
    const [, seconds] = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body) ?? [];
    return seconds === undefined ? undefined : Number(seconds) * 1000;
  },
};
