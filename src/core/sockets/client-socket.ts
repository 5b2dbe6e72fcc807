/** WebSockets between a client and the gateway, as the features that use them need them. */

import type { GatewayError } from "../errors.ts";

/**
 * The fate of a message: sent; queued, because the client does not read, with `drain` following once the queue is
 * empty; or lost, because the socket is closed, or about to be closed because too much is queued.
 */
export type Sending = "sent" | "waiting" | "lost";

/** An open WebSocket. */
export interface Socket {
  send(message: string | Uint8Array): Sending;
  /** Writes everything that `run` sends at once. */
  cork(run: () => void): void;
  ping(): void;
  /** Stops reading, so that messages wait at the client. A few that have already been received may still arrive. */
  pause(): void;
  resume(): void;
  /** Closes it. The code is from 1000 to 1003, 1007 to 1014 or 3000 to 4999; the reason has at most 123 bytes. */
  close(code: number, reason?: string): void;
  /** Closes the connection at once, without the messages that are queued. */
  terminate(): void;
}

type MaybePromise = void | Promise<void>;

/** A feature's handler of one WebSocket. If it throws or rejects, the socket is closed with 1011. */
export interface SocketHandler {
  open(socket: Socket): MaybePromise;
  message(message: string | Uint8Array): MaybePromise;
  drain?(): MaybePromise;
  /** The server is about to stop: the handler should close the socket once its present work has ended. */
  retire?(): void;
  /**
   * The server is stopping and will wait no longer: the handler must close the socket soon. Absent: the socket is closed
   * with 1012.
   */
  shutdown?(): void;
  /** Its token may no longer be used (401): the handler must close the socket. Absent: the socket is closed with 1008. */
  revoke?(error: GatewayError): void;
  /**
   * Ends the work of the socket. Called once, with 1006 if the connection broke off or never opened. A stopping server
   * waits until it resolves.
   */
  close(code: number, reason: string): MaybePromise;
}

/** What a route takes from the clients of its sockets, besides the bound of every message. */
export interface MessageBounds {
  /** Beyond it the socket is closed with 1008. */
  messagesPerSecondMax: number;
  /** A larger message closes the socket with 1009. */
  messageBytesMax?: number;
}

/** The answer of a route that accepts the WebSocket. */
export interface AcceptedSocket {
  socket: SocketHandler;
  /** Absent: the handler has bounds of its own. */
  bounds?: MessageBounds;
  /** Called once, when the handler has ended its work. */
  onEnd?: () => void;
  /** One of the subprotocols offered by the client. */
  protocol?: string;
  /** Headers of the answer to the handshake. */
  headers?: Readonly<Record<string, string>>;
}
