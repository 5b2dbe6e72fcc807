import type { FailureRules } from "../provider.ts";
import { keyStatuses } from "../shared/failures.ts";

/** Codes are dotted words with a suffix. Overload is a 429, and one 400 is temporary (`docs/wire/byteplus.md`). */
export const failures: FailureRules = {
  keyRefused: [{ statuses: keyStatuses, codes: /^AuthenticationError/ }],
  quotaGone: [{ statuses: keyStatuses, codes: /^(?:SetLimitExceeded|AccountOverdueError|QuotaExceeded)/ }],
  modelGone: [
    {
      statuses: [403, 404],
      codes: /^(?:InvalidEndpointOrModel|ModelNotOpen|UnsupportedModel|OperationDenied\.ServiceNotOpen)/,
    },
    { statuses: [400], codes: /^InvalidEndpoint\.ClosedEndpoint/ },
  ],
  contextWindow: [{ statuses: [400], codes: /^OutofContextError/ }],
  contentPolicy: [
    {
      statuses: [400],
      codes: /^(?:(?:Input|Output)(?:Text|Image|Video|Audio))?(?:SensitiveContentDetected|RiskDetection)/,
    },
  ],
  retryable: [
    { statuses: [400], codes: /^ContentSecurityDetectionError/ },
    { statuses: [429], codes: /^ServerOverloaded/ },
  ],
};
