import { createHash } from "node:crypto";
import type { ReceivedBody } from "../../bodies/index.ts";
import { GatewayError, limits } from "../../core/index.ts";

/** The header of a caller's retry key. */
const RETRY_KEY_HEADER = "idempotency-key";

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

/**
 * The caller's `Idempotency-Key`, if any, or that of an `alias` that an SDK sends instead. Throws 422 for a key that is empty,
 * too long, or contains other than printable ASCII characters.
 */
export function readRetryKey(headers: Headers, alias?: string): string | undefined {
  const key = headers.get(RETRY_KEY_HEADER) ?? (alias === undefined ? null : headers.get(alias));
  if (key === null) return undefined;
  if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(key) || key.length > limits.retryKeyCharactersMax) {
    throw new GatewayError(
      "validation_failed",
      `The Idempotency-Key must be 1 to ${limits.retryKeyCharactersMax} printable ASCII characters.`,
      { param: RETRY_KEY_HEADER },
    );
  }
  return key;
}

/** A hash of the request of a key: the operation and the body, byte by byte, or part by part for a form. */
export async function fingerprintOf(operation: string, received: ReceivedBody<unknown>): Promise<string> {
  const prefix = `${operation}\n`;
  if (received.kind === "form") return received.form.fingerprint(prefix);
  const hash = createHash("sha256").update(prefix).update(received.bytes);
  if (received.named !== undefined) hash.update(`\n${JSON.stringify(received.named)}`);
  return hash.digest("base64url");
}
