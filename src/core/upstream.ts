/**
 * A request to an upstream and the reply, as the relay needs them: bytes are pushed as they come, without a promise a
 * piece, and only one look at a header is paid for that is looked at.
 */

import type { CallSignal } from "./call-abort.ts";

export interface UpstreamRequest {
  method: "GET" | "POST" | "DELETE";
  /** Absolute, without credentials or a fragment. */
  url: string;
  /** The same object for thousands of calls where they are the same. */
  headers: Headers;
  /** Pieces of memory follow each other. */
  body?: string | Uint8Array | readonly Uint8Array[] | Blob | ReadableStream<Uint8Array> | undefined;
  /** Ends the request, or the reply's body, with its reason. */
  signal: CallSignal;
}

/** Redirections are not followed: a key must not go along. */
export interface UpstreamReply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly body: ReplyBody;
}

export interface ReplyHeaders {
  /** Of a header that came several times, all values with commas between; null where there is none. Small letters. */
  get(name: string): string | null;
}

/** Decoded: what the transfer and a content encoding did to it is undone. */
export interface ReplyBody {
  /** Hands over what has come, at once, and what comes. To be called once. */
  flowTo(sink: BodySink): void;
  /** Holds the flow up, so that what the sink can't take waits at the upstream. A few pieces may still come. */
  pause(): void;
  resume(): void;
  /** Nobody wants the rest. The sink hears nothing more. */
  cancel(): void;
}

/** Is told of pieces, and then once of an end or a failure. */
export interface BodySink {
  /** The bytes are the sink's own from now on. */
  onBytes(bytes: Buffer): void;
  onEnd(): void;
  /** The body broke off, or its request was ended: with the signal's reason. */
  onFailure(cause: unknown): void;
}

/** Rejects where no head of a reply came: with the signal's reason where that ended it. */
export type AskUpstream = (request: UpstreamRequest) => Promise<UpstreamReply>;
