import type { FailureRules } from "../provider.ts";
import { commonFailures } from "../shared/failures.ts";

/** A wrong key is a 400 without a specific code, and `error` is a sentence (`docs/wire/xai.md`). */
export const failures: FailureRules = {
  ...commonFailures,
  keyRefused: [...commonFailures.keyRefused, { statuses: [400, 401, 403], message: /^Incorrect API key/ }],
  modelGone: [...commonFailures.modelGone, { statuses: [400, 404], message: /^The model \S+ does not exist/ }],
  contextWindow: [
    ...commonFailures.contextWindow,
    { statuses: [400], message: /^This model's maximum prompt length is / },
  ],
  contentPolicy: [...commonFailures.contentPolicy, { statuses: [403], message: /^Content violates usage guidelines/ }],
};
