import type { FailureRules } from "../provider.ts";
import { commonFailures } from "../shared/failures.ts";

/** Moonshot, Groq and vLLM say "overloaded" under statuses of their own. */
export const failures: FailureRules = { ...commonFailures, retryable: /engine_overloaded_error|capacity_exceeded/ };
