import type { Dialect, GatewayError, JsonObject, ObservedUsage } from "../core/index.ts";

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
  /** Tokens that are likely to go in, where the body tells them better than its bytes do. */
  likelyInputTokens?: number;
  /** Parts of the input whose size the request doesn't tell, and how many of `inputTokens` are held for them. */
  unmeasured?: { parts: number; tokens: number };
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
interface CallShape<Body> {
  /** Members that hold what is said. They are only measured, so that their strings need not be decoded. */
  measured: readonly string[];
  /** `sizeOf` tells the bytes of a string within a measured member. */
  bound(body: Body, sizeOf: SizeOf): CallBound;
  /** Bytes of text in a whole answer, for an estimate where it names no usage. */
  outputBytes(answer: string): number;
}

/** One shape of text generation. */
export interface DialectCodec<Body> extends CallShape<Body> {
  dialect: Dialect;
  /** `body` decides whether the client wants to see the usage. */
  observe(body: Body, readUsage: ReadUsage): StreamObserver;
  /** Bytes of one event that is kept together while it passes, where its last may repeat all of a long answer. */
  eventBytesMax?: number;
  /** The event that tells a client that its stream has broken. */
  errorEvent(error: GatewayError, requestId: string): string;
}

/** What is no text generation: every upstream speaks the one shape that there is, and nothing is streamed. */
export interface WholeCodec<Body> extends CallShape<Body> {
  dialect?: undefined;
}
