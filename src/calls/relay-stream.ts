/**
 * Passes a stream through: bytes as they came, in whole events, while an observer reads along.
 *
 *   relaying ──the dialect's last event──▶ ended "complete" ──committed──▶ that event to the client
 *      │ ├────upstream breaks, stalls or ends early──▶ error event to the client ──▶ ended "interrupted"
 *      │ └────upstream's own error event──▶ passed on ──▶ ended "failed"
 *      └──────client goes away──▶ upstream aborted ──▶ ended "abandoned"
 *
 * `onEnd` is called exactly once, whichever way it ends. The last event is the client's receipt: it goes out once the
 * charge is durable, so that no process can die between a finished answer and its charge.
 */
import { GatewayError, limits } from "../core/index.ts";
import type { StreamObserver } from "../dialects/index.ts";
import { EventSplitter, type Ticker } from "../streaming/index.ts";

export type StreamEnd = "complete" | "interrupted" | "failed" | "abandoned";

export interface StreamRelayOptions {
  observer: StreamObserver;
  abort: AbortController;
  ticker: Ticker;
  clock: () => number;
  idleMsMax: number;
  errorEvent: (error: GatewayError) => string;
  onFirstByte: () => void;
  /** Ends the charge; resolves when that is durable. */
  onEnd: (end: StreamEnd, error: GatewayError | undefined) => Promise<void>;
}

const KEEP_ALIVE = Buffer.from(": keep-alive\n\n");

/** Bun's reader hands out everything that has arrived in one go, without a promise where something is there already. */
interface BatchReader {
  readMany(): ReadBatch | Promise<ReadBatch>;
  cancel(reason?: unknown): Promise<void>;
}
interface ReadBatch {
  done: boolean;
  value: Uint8Array[];
}

export function relayStream(body: ReadableStream<Uint8Array>, options: StreamRelayOptions): ReadableStream<Uint8Array> {
  return new ReadableStream(new StreamRelay(body.getReader() as unknown as BatchReader, options), { highWaterMark: 0 });
}

class StreamRelay {
  readonly #reader: BatchReader;
  readonly #options: StreamRelayOptions;
  readonly #splitter = new EventSplitter(limits.eventBytesMax);
  #unwatch: () => void = () => undefined;
  #lastByteAt: number;
  #sawByte = false;
  #ended = false;

  constructor(reader: BatchReader, options: StreamRelayOptions) {
    this.#reader = reader;
    this.#options = options;
    this.#lastByteAt = options.clock();
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#unwatch = this.#options.ticker.watch((now) => this.#onTick(now, controller));
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      for (;;) {
        const reading = this.#reader.readMany();
        const batch = reading instanceof Promise ? await reading : reading;
        if (batch.done) return await this.#finish(controller);
        const blocks = this.#observe(batch.value);
        if (this.#options.observer.done) await this.#end("complete", undefined);
        for (const block of blocks) controller.enqueue(block);
        if (blocks.length > 0) return;
      }
    } catch (cause) {
      await this.#break(controller, cause);
    }
  }

  /** The client went away. */
  async cancel(): Promise<void> {
    const ended = this.#end("abandoned", undefined);
    this.#options.abort.abort(new GatewayError("upstream_interrupted", "The client went away."));
    await ended;
  }

  /** What the client is to get of what has arrived. */
  #observe(chunks: readonly Uint8Array[]): Buffer[] {
    this.#lastByteAt = this.#options.clock();
    if (!this.#sawByte) {
      this.#sawByte = true;
      this.#options.onFirstByte();
    }
    const blocks: Buffer[] = [];
    for (const chunk of chunks) {
      const whole = this.#splitter.push(chunk);
      const shown = whole.length === 0 ? whole : this.#options.observer.see(whole);
      if (shown.length > 0) blocks.push(shown);
    }
    return blocks;
  }

  async #finish(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { observer } = this.#options;
    const rest = this.#splitter.rest();
    const shown = rest.length === 0 ? rest : observer.see(rest);
    if (!observer.failed && !observer.complete) {
      if (shown.length > 0) controller.enqueue(shown);
      return this.#break(controller, new Error("the stream ended early"));
    }
    await this.#end(observer.failed ? "failed" : "complete", undefined);
    if (shown.length > 0) controller.enqueue(shown);
    controller.close();
  }

  /** A broken stream ends with an error event, never as if it were whole. */
  async #break(controller: ReadableStreamDefaultController<Uint8Array>, cause: unknown): Promise<void> {
    if (this.#ended) return controller.close();
    const reason: unknown = this.#options.abort.signal.aborted ? this.#options.abort.signal.reason : undefined;
    const error =
      reason instanceof GatewayError
        ? reason
        : new GatewayError("upstream_interrupted", "The upstream's stream broke off.", { cause });
    await this.#end("interrupted", error);
    controller.enqueue(Buffer.from(this.#options.errorEvent(error)));
    controller.close();
    // Frees the connection where the upstream would go on.
    this.#reader.cancel().catch(() => undefined);
  }

  #onTick(now: number, controller: ReadableStreamDefaultController<Uint8Array>): void {
    const silence = now - this.#lastByteAt;
    if (silence > this.#options.idleMsMax) {
      this.#options.abort.abort(new GatewayError("upstream_timeout", "The upstream's stream fell silent."));
    } else if (silence > limits.keepAliveMs && this.#splitter.atBoundary && (controller.desiredSize ?? 0) >= 0) {
      controller.enqueue(KEEP_ALIVE);
    }
  }

  #end(end: StreamEnd, error: GatewayError | undefined): Promise<void> {
    if (this.#ended) return Promise.resolve();
    this.#ended = true;
    this.#unwatch();
    return this.#options.onEnd(end, error);
  }
}
