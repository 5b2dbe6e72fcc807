import type { JsonObject, ObservedUsage } from "../core/index.ts";

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
