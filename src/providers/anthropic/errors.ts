import type { FailureRules } from "../provider.ts";
import { commonFailures } from "../shared/failures.ts";

export const failures: FailureRules = {
  ...commonFailures,
  keyRefused: /authentication_error/,
  quotaGone: /contract_spend_limit_reached|enforced_spend_limit_reached|credit balance is too low/,
};
