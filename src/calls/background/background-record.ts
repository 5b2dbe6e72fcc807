/** Whether a response may run in the background, and its record. */
import type { Principal } from "../../auth/index.ts";
import { GatewayError, type JsonObject, limits } from "../../core/index.ts";
import { inputItems } from "../../dialects/index.ts";
import type { BackgroundInput, BackgroundResponses } from "../../objects/index.ts";
import type { Target } from "../../routing/index.ts";

/** A body that asks for a response in the background. */
interface BackgroundAsked {
  body: JsonObject;
  bytes: Uint8Array;
}

/** Runs the response that a body asks for in the background. Throws 422 if it cannot be stored, or is not offered. */
export function backgroundOf(
  { background: service }: { background?: BackgroundResponses },
  { body, bytes }: BackgroundAsked,
): BackgroundResponses {
  if (service === undefined) throw notInBackground("is not offered here");
  if (body["store"] === false) throw notInBackground("needs a response that is stored: leave store out");
  if (bytes.length > limits.storedRoundBytesMax) throw notInBackground("is not possible with so large a body");
  return service;
}

function notInBackground(why: string): GatewayError {
  return new GatewayError("validation_failed", `background: ${why}.`, { param: "background" });
}

interface RecordedCall {
  principal: Principal;
  target: Target;
  /** The client's own body. */
  request: JsonObject;
  callId: string;
}

export function backgroundRecord({ principal, target, request, callId }: RecordedCall): BackgroundInput {
  const { previous_response_id: previous } = request;
  return {
    owner: principal.user,
    provider: target.route.prefix,
    model: target.model,
    previousId: typeof previous === "string" ? previous : undefined,
    input: JSON.stringify(inputItems(request, callId)),
  };
}
