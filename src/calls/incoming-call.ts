import type { PaidRequest } from "../charges/index.ts";
import type { AskUpstream } from "../core/index.ts";

/** A request for a chargeable route. */
export interface IncomingCall extends PaidRequest {
  /** Sends the request to an upstream that takes turns over sockets, in place of the process's client: over a connection of the caller's own. */
  ask?: AskUpstream | undefined;
}
