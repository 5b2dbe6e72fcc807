import type { SizeOf } from "../bodies/index.ts";
import type { WorkBound, Dialect, GatewayError } from "../core/index.ts";
import type { ReadUsage, StreamObserver } from "../streaming/index.ts";

/** One shape of text generation. */
export interface TextCodec<Body> {
  /** Members that hold what is said. They are only measured, so that their strings need not be decoded. */
  measured: readonly string[];
  /** Bytes of text in a whole answer, for an estimate where it names no usage. */
  outputBytes(answer: string): number;
  dialect: Dialect;
  /** `sizeOf` tells the bytes of a string within a measured member. */
  bound(body: Body, sizeOf: SizeOf): WorkBound;
  /** `body` decides whether the client wants to see the usage. */
  observe(body: Body, readUsage: ReadUsage): StreamObserver;
  /** Bytes of one event that is kept together while it passes, where its last may repeat all of a long answer. */
  eventBytesMax?: number;
  /** The event that tells a client that its stream has broken. */
  errorEvent(error: GatewayError, requestId: string): string;
}
