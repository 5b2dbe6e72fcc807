import type { JsonObject, ObservedUsage, Usage } from "../core/index.ts";

/** Reads the usage in one event or whole answer, by the provider's own counting. */
export type ReadUsage = (answer: JsonObject) => ObservedUsage | undefined;

/** The usage that is charged for a whole stream, by its reported usage and its bytes of text: a client gets no other. */
export type ChargedUsage = (told: ObservedUsage | undefined, outputBytes: number) => Usage;

/**
 * Observes a relayed stream: finds the usage, measures the output, and detects its end. `see` takes a block of whole
 * events and returns the bytes for the client.
 */
export interface StreamObserver {
  see(block: Buffer): Buffer;
  /** The upstream has closed: returns the remaining bytes for the client. Absent if bytes pass unchanged. */
  close?(): Buffer;
  /** The upstream has broken off: returns retained whole events, which are paid for. Absent if nothing is retained. */
  heldBack?(): Buffer;
  /** The last reported usage: later figures replace earlier ones. */
  readonly usage: ObservedUsage | undefined;
  /** The bytes of generated text so far, for an estimate if the stream reports no usage. */
  readonly outputBytes: number;
  /** Those of them after the last reported usage, which does not count them. Absent if only the end reports one. */
  readonly outputBytesSinceUsage?: number;
  /** Whether the dialect's last event has passed: nothing follows it. */
  readonly done: boolean;
  /** Whether a stream that ended here would be complete; some upstreams omit the last event. */
  readonly complete: boolean;
  /** Whether it has ended with an error event. */
  readonly failed: boolean;
  /** Whether the observer has written that event itself, because the upstream closed too early. */
  readonly cut?: boolean;
}
