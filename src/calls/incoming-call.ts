import type { Principal } from "../auth/index.ts";
import type { BodySource } from "../bodies/index.ts";

/**
 * One authenticated call, whatever brought it: an HTTP request, a turn of a WebSocket, another feature of the gateway.
 */
export interface IncomingCall {
  requestId: string;
  principal: Principal;
  /** Headers as an HTTP client of the route's surface would send them. */
  headers: Headers;
  /** The body, or where it is still to be read from. */
  body: Uint8Array | BodySource;
  client: CallClient;
}

/** The one who waits for the answer. The signal is looked at on ticks alone, since most calls end before the first. */
export type CallClient = Pick<Request, "signal">;

/** The answer to a call. A stream's bytes are made as they are read, and cancelling it ends the call. */
export interface CallAnswer {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array | string | ReadableStream<Uint8Array>;
}
