import type { SizeOf } from "../bodies/index.ts";
import type { WorkBound, CallFile, GatewayError, JsonObject, ObservedUsage } from "../core/index.ts";
import type { ReadUsage, StreamObserver } from "../streaming/index.ts";

/**
 * What is no text generation: there is one shape, OpenAI's, which other providers have taken over or are reshaped to
 * (`UpstreamOperation.reshape`).
 */
export interface MediaCodec<Body> {
  /** Members that hold what is said. They are only measured, so that their strings need not be decoded. */
  measured: readonly string[];
  /** Bytes of text in a whole answer, for an estimate where it names no usage. */
  outputBytes(answer: string): number;
  dialect?: undefined;
  /** `sizeOf` tells the bytes of a string within a measured member; `files` came with the body, where that was a form. */
  bound(body: Body, sizeOf: SizeOf, files: readonly CallFile[]): WorkBound;
  /** What a whole answer holds that is paid for by other units than tokens; the upstream's own figures go before it. */
  counted?(body: Body, answer: JsonObject): ObservedUsage;
  /** How its streams of events are read; left out where nothing is streamed. */
  events?: MediaEvents<Body>;
  /**
   * Observes an answer that is neither JSON nor a stream of events, but bytes: sound, plain text. Its `usage` is what the
   * bytes so far are taken for. Left out where there is no such answer.
   */
  observeBytes?: (body: Body, bound: WorkBound) => StreamObserver;
}

export interface MediaEvents<Body> {
  /** `bound` is the call's own: what went in is taken for that, where the upstream doesn't say. */
  observe(body: Body, readUsage: ReadUsage, bound: WorkBound): StreamObserver;
  /** Bytes of one event that is kept together: it may hold a whole image. */
  eventBytesMax: number;
  /** The event that tells a client that its stream has broken. */
  errorEvent: (error: GatewayError) => string;
  /** A whole answer as events, for a client that asked for a stream of an upstream that makes none. */
  ofAnswer(body: Body, answer: JsonObject): string;
}
