import { GatewayError } from "../../core/index.ts";

/** A 422 that names the field of the client's body, for a call that has no equivalent at this upstream. */
export function refusal(param: string, message: string): GatewayError {
  return new GatewayError("validation_failed", `${param}: ${message}`, { param });
}
