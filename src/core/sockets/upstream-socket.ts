/** A WebSocket to an upstream, as the relay of sessions needs it. */

export interface UpstreamSocketRequest {
  /** Absolute, `ws:` or `wss:`, without credentials. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** How long the handshake may take, in milliseconds. */
  openMsMax: number;
}

export interface UpstreamSocket {
  /** Passes the messages that have arrived on immediately, and all others as they arrive. Must be called only once. */
  flowTo(sink: SocketSink): void;
  send(message: string | Uint8Array): void;
  /** Bytes that the upstream has not read yet. */
  readonly queuedBytes: number;
  ping(): void;
  /** Stops reading, so that messages wait at the upstream. A few more may still arrive. */
  pause(): void;
  resume(): void;
  /** Closes it; the code is 1000 to 1003, 1007 to 1014 or 3000 to 4999. */
  close(code: number, reason?: string): void;
  /** Closes the connection without a farewell. */
  terminate(): void;
}

/** Receives the messages of a socket, followed by exactly one close. */
export interface SocketSink {
  onMessage(message: string | Uint8Array): void;
  /** The upstream has answered a ping. */
  onPong(): void;
  /** 1006 if the connection broke off. */
  onClose(code: number, reason: string): void;
}

/** The upstream has answered the handshake with this status instead of opening the socket. */
export class HandshakeRefused extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the handshake was refused with ${status}`);
    this.name = "HandshakeRefused";
    this.status = status;
  }
}

/** Rejects with `HandshakeRefused`, or with another error if the upstream cannot be reached or does not answer in time. */
export type OpenUpstreamSocket = (request: UpstreamSocketRequest) => Promise<UpstreamSocket>;
