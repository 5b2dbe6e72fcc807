/**
 * A request to an upstream and its reply, as the relay needs them: bytes are pushed as they arrive, without a promise
 * per chunk, and a header costs time only if it is read.
 */

import type { CallSignal } from "./call-abort.ts";

export interface UpstreamRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Absolute, without credentials or fragment. */
  url: string;
  /** May be the same object for thousands of calls. */
  headers: Headers;
  /** The chunks of an array are sent one after the other. */
  body?: string | Uint8Array | readonly Uint8Array[] | Blob | ReadableStream<Uint8Array> | undefined;
  /** Aborts the request, or the reply's body, with the signal's reason. */
  signal: CallSignal;
  /**
   * The IP address to connect to, instead of those that the host's name resolves to. The request and the check of the
   * certificate still name the host. Such a connection is new and used once, and never goes through a proxy.
   */
  address?: string | undefined;
  /** The time-out for a new connection including its TLS handshake, in milliseconds; none if absent. */
  connectMsMax?: number | undefined;
  /**
   * Called with true once the beginning of the request has been written: from then on the upstream may do the work. Called
   * with false if the connection took nothing of it after all; the request then goes to another one.
   */
  onSent?: ((isSent: boolean) => void) | undefined;
}

/** Redirects are not followed, so that a key is never sent to another host. */
export interface UpstreamReply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly body: ReplyBody;
}

export interface ReplyHeaders {
  /** Looks a header up by its lowercase name. Repeated values are joined with commas; null if the header is absent. */
  get(name: string): string | null;
}

/** The decoded body, without transfer encoding and content encoding. */
export interface ReplyBody {
  /** Passes the buffered bytes on immediately, and all others as they arrive. Must be called only once. */
  flowTo(sink: BodySink): void;
  /** Applies back-pressure, so that bytes wait at the upstream. A few more chunks may still arrive. */
  pause(): void;
  resume(): void;
  /** Discards the remaining body. The sink is not called any more. */
  cancel(): void;
}

/** Receives the chunks of a body, followed by exactly one end or failure. */
export interface BodySink {
  /** The sink owns the bytes. */
  onBytes(bytes: Buffer): void;
  onEnd(): void;
  /** The body was cut off, or the signal aborted the request: then the cause is the signal's reason. */
  onFailure(cause: unknown): void;
}

/** Rejects if the reply's head doesn't arrive; with the signal's reason if the signal aborted the request. */
export type AskUpstream = (request: UpstreamRequest) => Promise<UpstreamReply>;
