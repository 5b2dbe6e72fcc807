import { GatewayError } from "../core/index.ts";

/** The header of a caller's retry key. */
export const RETRY_KEY_HEADER = "idempotency-key";

/** The refusal of a key whose first call has not ended, or had another body. */
export function retryRefused(why: "retry-running" | "retry-mismatch"): GatewayError {
  if (why === "retry-mismatch") {
    return new GatewayError(
      "idempotency_key_reused",
      "This Idempotency-Key was used with another request. Choose a new one for each request.",
      { param: RETRY_KEY_HEADER },
    );
  }
  return new GatewayError("idempotency_key_in_use", "The first call with this Idempotency-Key has not ended.", {
    param: RETRY_KEY_HEADER,
    retryAfterSeconds: 1,
  });
}
