/** Calls whose hosted tools the gateway runs: several calls of the pipeline, which a part on top of it makes. */
import type { PaidAnswer } from "../charges/index.ts";
import type { Dialect, JsonObject } from "../core/index.ts";
import type { Principal } from "../auth/index.ts";
import type { Target } from "../routing/index.ts";
import type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";
import type { IncomingCall } from "./incoming-call.ts";

export interface HostedCall {
  dialect: Dialect;
  body: JsonObject;
  /** Of the body; long strings may be truncated. */
  text: string;
  target: Target;
  principal: Principal;
}

export interface HostedLoops {
  /** Whether a body asks for a tool that the gateway runs for this target. Asked for each call: it must be quick. */
  takes(call: HostedCall): boolean;
  /** A body of Messages in which results that the gateway alone can read are texts, as far as the caller may read them. */
  opened(body: JsonObject, principal: Principal): Promise<JsonObject>;
  /** Performs such a call. Resolves and rejects as the pipeline does. */
  run<Body extends ChargeableBody>(
    route: ChargeableRoute<Body>,
    call: IncomingCall & { body: Uint8Array },
    target: Target,
  ): Promise<PaidAnswer>;
}

/** Ends the plan of a call that `HostedLoops` performs. */
export class LoopNeeded extends Error {
  readonly bytes: Uint8Array;
  readonly target: Target;

  constructor(bytes: Uint8Array, target: Target) {
    super("the gateway runs a tool of this call");
    this.bytes = bytes;
    this.target = target;
  }
}
