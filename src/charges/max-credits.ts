import { formatCredits, GatewayError, type Nano, parseCredits } from "../core/index.ts";

/** The most credits that the caller lets the request cost. */
export const MAX_CREDITS_HEADER = "x-tollgate-max-credits";

/** As the OpenAPI document has it. */
const AMOUNT = /^\d+(?:\.\d{1,9})?$/;

/** The caller's own limit, in nano-credits; undefined without one. Throws `validation_failed` for anything but an amount. */
export function chargeMaxIn(headers: Pick<Headers, "get">): Nano | undefined {
  const written = headers.get(MAX_CREDITS_HEADER);
  if (written === null) return undefined;
  if (AMOUNT.test(written)) return parseCredits(written);
  const message = `${MAX_CREDITS_HEADER}: write an amount of credits, such as 0.25, with at most nine decimals.`;
  throw new GatewayError("validation_failed", message, { param: MAX_CREDITS_HEADER });
}

/** Refuses the header for work of which it would bound only a part. Throws 422. */
export function refuseChargeMax(headers: Pick<Headers, "has">, of: string): void {
  if (!headers.has(MAX_CREDITS_HEADER)) return;
  const message = `${MAX_CREDITS_HEADER}: does not bound ${of}.`;
  throw new GatewayError("validation_failed", message, { param: MAX_CREDITS_HEADER });
}

/** The refusal of work that its caller does not let cost so much. `needs` is a sentence about that. */
export function beyondMax(needs: string, chargeMax: Nano): GatewayError {
  const message = `Over the call's own limit: ${needs}, and ${MAX_CREDITS_HEADER} allows ${formatCredits(chargeMax)}.`;
  return new GatewayError("max_credits_exceeded", message, { param: MAX_CREDITS_HEADER });
}
