import type { CallFile, Dialect, GatewayError, ImageVariant, JsonObject, ObservedUsage, Usage } from "../core/index.ts";

/** What a dialect knows of a request body before it is sent: everything that bounds its cost. */
export interface CallBound {
  /** Tokens that can go in. */
  inputTokens: number;
  /** Tokens that can come out per choice, or undefined where the body sets no limit. */
  outputTokens: number | undefined;
  /** How many answers are asked for. */
  choices: number;
  /** How many inputs are read each by itself, so that each may fill the model's context window; one where left out. */
  inputs?: number;
  /**
   * Tokens that are likely to go in, by kind, where the body tells them better than its bytes do; and of other units those
   * of which `unitsIn` is only a bound.
   */
  likelyIn?: Usage;
  /** Parts of the input whose size the request doesn't tell, and how many of `inputTokens` are held for them. */
  unmeasured?: { parts: number; tokens: number };
  /**
   * What goes in by other units than tokens (images, characters, milliseconds of sound): the most, and what is charged
   * where neither the upstream nor `likelyIn` names a figure.
   */
  unitsIn?: Usage;
  /** Images that can come out, and of which variant where the body tells. */
  imagesOut?: { count: number; variant: ImageVariant | undefined };
}

/** At most how many bytes of UTF-8 a string has. */
export type SizeOf = (text: string) => number;

/** Reads the usage in one event or whole answer; the provider's own way of counting. */
export type ReadUsage = (answer: JsonObject) => ObservedUsage | undefined;

/**
 * Watches a passed-through stream, without changing it: finds the usage, measures the output, and notes how it ended.
 * `see` gets a block of whole events and answers with the bytes that the client is to get.
 */
export interface StreamObserver {
  see(block: Buffer): Buffer;
  /** The upstream has closed: what the client is to get still. Left out where bytes pass as they are. */
  close?(): Buffer;
  /** The upstream has broken off: whole events that were held back, and are paid for. Left out where there are none. */
  heldBack?(): Buffer;
  /** The last usage that the stream named: later figures replace earlier ones. */
  readonly usage: ObservedUsage | undefined;
  /** Bytes of generated text so far, for an estimate where a stream names no usage. */
  readonly outputBytes: number;
  /** Whether the dialect's last event has been seen: nothing follows it. */
  readonly done: boolean;
  /** Whether a stream that ended here would be whole; some upstreams leave the last event out. */
  readonly complete: boolean;
  /** Whether the upstream ended it with an error event of its own. */
  readonly failed: boolean;
}

/** What a client sends and gets on a route, as the pipeline uses it. */
interface CallShape {
  /** Members that hold what is said. They are only measured, so that their strings need not be decoded. */
  measured: readonly string[];
  /** Bytes of text in a whole answer, for an estimate where it names no usage. */
  outputBytes(answer: string): number;
}

/** One shape of text generation. */
export interface TextCodec<Body> extends CallShape {
  dialect: Dialect;
  /** `sizeOf` tells the bytes of a string within a measured member. */
  bound(body: Body, sizeOf: SizeOf): CallBound;
  /** `body` decides whether the client wants to see the usage. */
  observe(body: Body, readUsage: ReadUsage): StreamObserver;
  /** Bytes of one event that is kept together while it passes, where its last may repeat all of a long answer. */
  eventBytesMax?: number;
  /** The event that tells a client that its stream has broken. */
  errorEvent(error: GatewayError, requestId: string): string;
}

/**
 * What is no text generation: there is one shape, OpenAI's, which other providers have taken over or are reshaped to
 * (`UpstreamOperation.reshape`).
 */
export interface MediaCodec<Body> extends CallShape {
  dialect?: undefined;
  /** `sizeOf` tells the bytes of a string within a measured member; `files` came with the body, where that was a form. */
  bound(body: Body, sizeOf: SizeOf, files: readonly CallFile[]): CallBound;
  /** What a whole answer holds that is paid for by other units than tokens; the upstream's own figures go before it. */
  counted?(body: Body, answer: JsonObject): ObservedUsage;
  /** How its streams of events are read; left out where nothing is streamed. */
  events?: MediaEvents<Body>;
  /**
   * Observes an answer that is neither JSON nor a stream of events, but bytes: sound, plain text. Its `usage` is what the
   * bytes so far are taken for. Left out where there is no such answer.
   */
  observeBytes?: (body: Body, bound: CallBound) => StreamObserver;
}

export interface MediaEvents<Body> {
  /** `bound` is the call's own: what went in is taken for that, where the upstream doesn't say. */
  observe(body: Body, readUsage: ReadUsage, bound: CallBound): StreamObserver;
  /** Bytes of one event that is kept together: it may hold a whole image. */
  eventBytesMax: number;
  /** The event that tells a client that its stream has broken. */
  errorEvent: (error: GatewayError) => string;
  /** A whole answer as events, for a client that asked for a stream of an upstream that makes none. */
  ofAnswer(body: Body, answer: JsonObject): string;
}
