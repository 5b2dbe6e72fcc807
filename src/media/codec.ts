import type { SizeOf } from "../bodies/index.ts";
import type { WorkBound, CallFile, GatewayError, JsonObject, ObjectReference, ObservedUsage } from "../core/index.ts";
import type { ReadUsage, StreamObserver } from "../streaming/index.ts";

/**
 * Operations other than text generation. They have one format, OpenAI's, which other providers have adopted or are
 * converted to (`UpstreamOperation.toUpstream`).
 */
export interface MediaCodec<Body> {
  /** Fields that are only measured, so their strings need not be decoded. */
  measured: readonly string[];
  /** Bytes of text in a whole answer, for an estimate if it reports no usage. */
  outputBytes(answer: string): number;
  dialect?: undefined;
  /** The stored objects that a body refers to; absent if there can be none. */
  references?(body: Body): readonly ObjectReference[];
  /** `sizeOf` measures a string within a measured field; `files` are those of a form. */
  bound(body: Body, sizeOf: SizeOf, files: readonly CallFile[]): WorkBound;
  /** A whole answer with nothing among its results but results: the rest is in `failed`. Absent if there is no rest. */
  withoutFailures?(answer: JsonObject): JsonObject;
  /** The units of a whole answer that the upstream may not report; its own figures take precedence. */
  counted?(body: Body, answer: JsonObject, bound: WorkBound): ObservedUsage;
  /** The reader of its streams of events; absent if nothing is streamed. */
  events?: MediaEvents<Body>;
  /**
   * Observes an answer of bytes that is neither JSON nor a stream of events: audio, plain text. Its `usage` is an
   * estimate from the bytes so far. Absent if there is no such answer.
   */
  observeBytes?: (body: Body, bound: WorkBound) => StreamObserver;
}

export interface MediaEvents<Body> {
  /** `bound` is the call's own: it is the estimate of the input if the upstream reports none. */
  observe(body: Body, readUsage: ReadUsage, bound: WorkBound): StreamObserver;
  /** The maximum size of one event that is retained: it may contain a whole image. */
  eventBytesMax: number;
  /** The event that informs a client about a broken stream. */
  errorEvent: (error: GatewayError) => string;
  /** A whole answer as events, for a client that requested a stream from an upstream without streams. */
  ofAnswer(body: Body, answer: JsonObject): string;
  /** The observer of a stream of another provider's events, with OpenAI's for the client; absent if there are no others. */
  forOpenai?(observer: StreamObserver, body: Body): StreamObserver;
}
