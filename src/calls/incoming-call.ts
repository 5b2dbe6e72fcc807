import type { Principal } from "../auth/index.ts";
import type { BodySource } from "../bodies/index.ts";
import type { AskUpstream } from "../core/index.ts";

/**
 * One authenticated call, independent of its origin: an HTTP request, a turn of a WebSocket, another feature of the
 * gateway.
 */
export interface IncomingCall {
  requestId: string;
  /** The id of the series that the call belongs to: a connection with several. */
  parent?: string;
  principal: Principal;
  /** Headers as sent by an HTTP client of the route's surface. */
  headers: Headers;
  /** The body, or its source if it has not been read yet. */
  body: Uint8Array | BodySource;
  client: CallClient;
  /** Sends the request to the upstream in place of the process's client: over a connection of the caller's own. */
  ask?: AskUpstream | undefined;
}

/** The receiver of the answer. The signal is only checked on ticks, because most calls end before the first. */
export type CallClient = Pick<Request, "signal">;

/** The answer to a call. A stream's bytes are produced as they are read, and cancelling it ends the call. */
export interface CallAnswer {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array | string | ReadableStream<Uint8Array>;
}
