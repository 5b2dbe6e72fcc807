import type { ObservedUsage } from "../../../src/core/index.ts";
import type { StreamReader } from "../../../src/dialects/index.ts";
import { eventsOf, type StreamObserver } from "../../../src/streaming/index.ts";

/** The head of a message, without any of its content. */
export const headEvent = "data: head\n\n";
export const lastEvent = "data: [DONE]\n\n";
export const errorEvent = "data: {error}\n\n";

export const textEvent = (bytes: number): Buffer => Buffer.from(`data: ${"x".repeat(bytes)}\n\n`);
export const usageEvent = (tokens: number): string => `data: usage ${tokens}\n\n`;

/** Reads the simulated events up to their first content. */
export const contentReader: StreamReader = {
  read(data) {
    if (data.startsWith("x")) return [{ type: "delta", choice: 0, index: 0, text: data }];
    if (data === "{error}") return [{ type: "error", failure: { kind: "overloaded", message: "failed" } }];
    return data === "[DONE]" ? [{ type: "end" }] : [];
  },
  close: () => [],
};

/** Reads the simulated upstream's events, and reports the passed units before each one. */
export class MeasuredObserver implements StreamObserver {
  usage: ObservedUsage | undefined;
  outputBytes = 0;
  done = false;
  failed = false;
  readonly #inputTokens: number;
  readonly #onEvent: (outputBytesBefore: number) => void;

  constructor(inputTokens: number, onEvent: (outputBytesBefore: number) => void) {
    this.#inputTokens = inputTokens;
    this.#onEvent = onEvent;
  }

  get complete(): boolean {
    return this.done;
  }

  see(block: Buffer): Buffer {
    for (const event of eventsOf(block)) this.#see(event);
    return block;
  }

  #see(event: Buffer): void {
    const kind = event.subarray(0, 12).toString("latin1");
    if (kind.startsWith("data: x")) {
      this.#onEvent(this.outputBytes);
      this.outputBytes += event.length - "data: \n\n".length;
    } else if (kind.startsWith("data: usage")) {
      const output = Number(event.toString("latin1").slice("data: usage ".length));
      this.usage = { usage: { input: this.#inputTokens, output, requests: 1 } };
    } else if (kind.startsWith("data: {error")) this.failed = true;
    else if (kind.startsWith("data: [DONE]")) this.done = true;
  }
}
