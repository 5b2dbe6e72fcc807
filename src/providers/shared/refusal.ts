import { GatewayError } from "../../core/index.ts";

/** A 422 for a call that can't be said to this upstream, naming the field of the client's body. */
export function refusal(param: string, message: string): GatewayError {
  return new GatewayError("validation_failed", `${param}: ${message}`, { param });
}
