/**
 * Passes a stream through: bytes as they came, in whole events, while an observer reads along.
 *
 *   relaying ──the dialect's last event──▶ ended "complete" ──committed──▶ that event to the client
 *      │ ├────upstream breaks, stalls or ends early──▶ error event to the client ──▶ ended "interrupted"
 *      │ └────upstream's own error event──▶ passed on ──▶ ended "failed"
 *      └──────client goes away──▶ upstream aborted ──▶ ended "abandoned"; or, where the answer is kept, read to its end
 *
 * `onEnd` is called exactly once, whichever way it ends. The last event is the client's receipt: it goes out once the
 * charge is durable, so that no process can die between a finished answer and its charge.
 */
import { GatewayError, limits } from "../core/index.ts";
import type { StreamObserver } from "../dialects/index.ts";
import type { KeptBody } from "./retry-key.ts";
import { EventSplitter, type Ticker, type Watched } from "../streaming/index.ts";

export type StreamEnd = "complete" | "interrupted" | "failed" | "abandoned";

export interface StreamRelayOptions {
  observer: StreamObserver;
  abort: AbortController;
  ticker: Ticker;
  idleMsMax: number;
  /** Undefined for a stream of bytes: they pass as they come, and break off with the connection. */
  events: StreamEvents | undefined;
  /** Its signal tells that the client has gone before it was answered. */
  client: Pick<Request, "signal">;
  /** Takes what goes out, for a call that is answered a second time; such a call goes on without its client. */
  kept: KeptBody | undefined;
  /** Takes the upstream's key out of an error that repeats it. */
  scrub: (text: string) => string;
  onFirstByte: () => void;
  /** Ends the charge; resolves when that is durable. */
  onEnd: (end: StreamEnd, error: GatewayError | undefined) => Promise<void>;
}

/** How the events of a stream are told apart, and how its client learns that it broke. */
export interface StreamEvents {
  /** Bytes of an event that is passed on in one piece. */
  bytesMax: number;
  errorEvent: (error: GatewayError) => string;
}

const NOTHING = Buffer.alloc(0);
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

class StreamRelay implements Watched {
  slot = -1;
  readonly #reader: BatchReader;
  readonly #options: StreamRelayOptions;
  readonly #splitter: EventSplitter | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #lastByteAt: number;
  #keptAliveAt = 0;
  #sawByte = false;
  /** Whether bytes of the upstream are being waited for; not so while the client takes none. */
  #reading = false;
  /** Whether it is read for nobody but its keeper. */
  #clientGone = false;
  #ended = false;

  constructor(reader: BatchReader, options: StreamRelayOptions) {
    this.#reader = reader;
    this.#options = options;
    this.#splitter = options.events && new EventSplitter(options.events.bytesMax);
    this.#lastByteAt = options.ticker.now();
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    this.#options.ticker.watch(this);
    if (this.#options.kept === undefined || !this.#options.client.signal.aborted) return;
    // Nobody would ask for a byte.
    controller.close();
    this.#goOnAlone();
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      for (;;) {
        const reading = this.#reader.readMany();
        this.#reading = true;
        const batch = reading instanceof Promise ? await reading : reading;
        this.#reading = false;
        if (this.#clientGone) return await this.#readForKeeper(batch);
        if (batch.done) return await this.#finish(controller);
        const blocks = this.#observe(batch.value);
        if (this.#options.observer.done) return await this.#complete(controller, blocks);
        for (const block of blocks) controller.enqueue(block);
        if (blocks.length > 0) return;
      }
    } catch (cause) {
      await this.#break(controller, cause);
    }
  }

  /** Nothing follows the dialect's last event: the client need not wait for the upstream to close. */
  async #complete(controller: ReadableStreamDefaultController<Uint8Array>, blocks: readonly Buffer[]): Promise<void> {
    await this.#end(this.#options.observer.failed ? "failed" : "complete", undefined);
    for (const block of blocks) controller.enqueue(block);
    controller.close();
    void this.#readOut();
  }

  /** Reads on to the end, so that the connection can be used again; one that stays open is given up. */
  async #readOut(): Promise<void> {
    const { abort, ticker } = this.#options;
    const giveUp = new GatewayError("upstream_timeout", "The upstream did not end its stream.");
    const cancelTimeout = ticker.after(limits.streamEndMsMax, () => abort.abort(giveUp));
    try {
      while (!(await this.#reader.readMany()).done);
    } catch {
      // Everything that matters has been said before the end.
    } finally {
      cancelTimeout();
    }
  }

  /** The client went away. */
  async cancel(): Promise<void> {
    if (this.#options.kept !== undefined && !this.#ended) return this.#goOnAlone();
    // SDKs hang up at an error: that was the upstream's end, not the client's.
    const ended = this.#end(this.#options.observer.failed ? "failed" : "abandoned", undefined);
    this.#options.abort.abort(new GatewayError("upstream_interrupted", "The client went away."));
    await ended;
  }

  /** A read that is under way goes on by itself. */
  #goOnAlone(): void {
    this.#clientGone = true;
    if (!this.#reading) void this.#readForKeeper();
  }

  /** Reads an answer whose client has gone to its end, from the batch that came last. */
  async #readForKeeper(last?: ReadBatch): Promise<void> {
    const { observer } = this.#options;
    this.#reading = true;
    try {
      for (let batch = last; batch?.done !== true; batch = await this.#reader.readMany()) {
        if (batch !== undefined) this.#observe(batch.value);
        if (observer.done) break;
      }
      this.#closing();
      if (!observer.failed && !observer.complete) throw new Error("the stream ended early");
      await this.#end(observer.failed ? "failed" : "complete", undefined);
      void this.#readOut();
    } catch (cause) {
      await this.#end("interrupted", this.#errorFrom(cause));
    }
  }

  /** What the client is to get of what has arrived. */
  #observe(chunks: readonly Uint8Array[]): Buffer[] {
    this.#lastByteAt = this.#options.ticker.now();
    if (!this.#sawByte) {
      this.#sawByte = true;
      this.#options.onFirstByte();
    }
    const blocks: Buffer[] = [];
    for (const chunk of chunks) {
      const shown = this.#see(this.#splitter === undefined ? asBuffer(chunk) : this.#splitter.push(chunk));
      if (shown.length > 0) blocks.push(shown);
    }
    return blocks;
  }

  #see(block: Buffer): Buffer {
    if (block.length === 0) return block;
    const { observer, scrub, kept } = this.#options;
    const shown = observer.see(block);
    kept?.add(shown);
    // Latin-1 keeps every byte as it is, also where a block begins or ends within a character.
    return observer.failed ? Buffer.from(scrub(shown.toString("latin1")), "latin1") : shown;
  }

  /** What follows the last whole event. */
  #closing(): Buffer {
    const { observer, kept } = this.#options;
    const rest = this.#see(this.#splitter?.rest() ?? NOTHING);
    if (observer.close === undefined || observer.done) return rest;
    const last = observer.close();
    kept?.add(last);
    return rest.length === 0 ? last : Buffer.concat([rest, last]);
  }

  async #finish(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { observer } = this.#options;
    const shown = this.#closing();
    // What is left is half an event: it would swallow the error event behind it.
    if (!observer.failed && !observer.complete) return this.#break(controller, new Error("the stream ended early"));
    await this.#end(observer.failed ? "failed" : "complete", undefined);
    if (shown.length > 0) controller.enqueue(shown);
    controller.close();
  }

  /** A broken stream ends with an error event, never as if it were whole. */
  async #break(controller: ReadableStreamDefaultController<Uint8Array>, cause: unknown): Promise<void> {
    const error = this.#errorFrom(cause);
    if (this.#clientGone) return this.#end("interrupted", error);
    if (this.#ended) return controller.close();
    await this.#end("interrupted", error);
    const { events, observer } = this.#options;
    if (events === undefined) {
      // The connection breaks off as well: nothing else tells half a file from a whole one.
      controller.error(error);
    } else {
      const gap = Buffer.from(this.#splitter?.atBoundary === false ? "\n\n" : "");
      const held = observer.heldBack?.() ?? NOTHING;
      controller.enqueue(Buffer.concat([gap, held, Buffer.from(events.errorEvent(error))]));
      controller.close();
    }
    // Frees the connection where the upstream would go on.
    this.#reader.cancel().catch(() => undefined);
  }

  /** Why the call was ended, or else how the upstream broke off. */
  #errorFrom(cause: unknown): GatewayError {
    const { signal } = this.#options.abort;
    if (signal.aborted && signal.reason instanceof GatewayError) return signal.reason;
    return new GatewayError("upstream_interrupted", "The upstream's stream broke off.", { cause });
  }

  onTick(now: number): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    const silence = now - this.#lastByteAt;
    const quiet = now - Math.max(this.#lastByteAt, this.#keptAliveAt);
    if (silence > this.#options.idleMsMax) {
      const error = this.#reading
        ? new GatewayError("upstream_timeout", "The upstream's stream fell silent.")
        : new GatewayError("request_timeout", "The stream was not read for too long.");
      this.#options.abort.abort(error);
      // Where no read is under way that fails by this, nobody else would end it.
      if (!this.#reading) void this.#break(controller, error);
    } else if (
      !this.#clientGone &&
      quiet >= limits.keepAliveMs &&
      this.#splitter?.atBoundary === true &&
      (controller.desiredSize ?? 0) >= 0
    ) {
      this.#keptAliveAt = now;
      controller.enqueue(KEEP_ALIVE);
    }
  }

  #end(end: StreamEnd, error: GatewayError | undefined): Promise<void> {
    if (this.#ended) return Promise.resolve();
    this.#ended = true;
    this.#options.ticker.leave(this);
    return this.#options.onEnd(end, error);
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
