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
import { type BodySink, type CallAbort, GatewayError, limits, type ReplyBody } from "../core/index.ts";
import { type StreamObserver, EventSplitter, type Ticker, type Watched } from "../streaming/index.ts";
import type { CallClient } from "./incoming-call.ts";
import type { StoredBody } from "./retry-key.ts";

export type StreamEnd = "complete" | "interrupted" | "failed" | "abandoned";

export interface StreamRelayOptions {
  observer: StreamObserver;
  abort: CallAbort;
  ticker: Ticker;
  idleMsMax: number;
  /** Undefined for a stream of bytes: they pass as they come, and break off with the connection. */
  events: StreamEvents | undefined;
  /** Its signal tells that the client has gone before it was answered. */
  client: CallClient;
  /** Takes what goes out, for a call that is answered a second time; such a call goes on without its client. */
  kept: StoredBody | undefined;
  /** Takes the upstream's key out of an error that repeats it. */
  redact: (text: string) => string;
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

/** Bytes that may wait for a client before the upstream is held up. */
const WAITING_BYTES_MAX = 256 * 1024;

const byteLengthOf = (bytes: Uint8Array | undefined): number => bytes?.byteLength ?? 0;

export function relayStream(body: ReplyBody, options: StreamRelayOptions): ReadableStream<Uint8Array> {
  return new ReadableStream(new StreamRelay(body, options), { highWaterMark: 0, size: byteLengthOf });
}

class StreamRelay implements Watched, BodySink {
  slot = -1;
  readonly #body: ReplyBody;
  readonly #options: StreamRelayOptions;
  readonly #splitter: EventSplitter | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #lastByteAt: number;
  #keptAliveAt = 0;
  #sawByte = false;
  /** Whether bytes of the upstream are being waited for; not so while the client takes none. */
  #reading = false;
  #started = false;
  /** Whether it is read for nobody but its keeper. */
  #clientGone = false;
  /** Whether the client can get no more, since it has hung up or has all. */
  #closed = false;
  #ended = false;
  #bodyEnded = false;
  /** Stops waiting for the upstream to close. */
  #cancelTimeout: (() => void) | undefined;

  constructor(body: ReplyBody, options: StreamRelayOptions) {
    this.#body = body;
    this.#options = options;
    this.#splitter = options.events && new EventSplitter(options.events.bytesMax);
    this.#lastByteAt = options.ticker.now();
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    this.#options.ticker.watch(this);
    if (this.#options.kept === undefined || !this.#options.client.signal.aborted) return;
    // Nobody would ask for a byte.
    this.#closed = true;
    controller.close();
    this.#goOnAlone();
  }

  /** The client has taken everything that was there. */
  pull(): void {
    this.#read();
  }

  /** The client went away. */
  async cancel(): Promise<void> {
    this.#closed = true;
    if (this.#options.kept !== undefined && !this.#ended) return this.#goOnAlone();
    // SDKs hang up at an error: that was the upstream's end, not the client's.
    const ended = this.#end(this.#options.observer.failed ? "failed" : "abandoned", undefined);
    this.#options.abort.abort(new GatewayError("upstream_interrupted", "The client went away."));
    await ended;
  }

  #goOnAlone(): void {
    this.#clientGone = true;
    this.#read();
  }

  #read(): void {
    if (this.#reading) return;
    this.#reading = true;
    if (this.#started) return this.#body.resume();
    this.#started = true;
    this.#body.flowTo(this);
  }

  onBytes(bytes: Buffer): void {
    // What follows the last event is read so that the connection can be used again.
    if (this.#ended) return;
    try {
      const block = this.#observe(bytes);
      if (this.#options.observer.done) this.#contain(this.#complete(block));
      else this.#pass(block);
    } catch (cause) {
      this.#contain(this.#break(cause));
    }
  }

  #pass(block: Buffer): void {
    if (this.#clientGone || block.length === 0) return;
    const controller = this.#controller;
    controller?.enqueue(block);
    if ((controller?.desiredSize ?? 0) >= -WAITING_BYTES_MAX) return;
    this.#reading = false;
    this.#body.pause();
  }

  onEnd(): void {
    this.#bodyEnded = true;
    this.#cancelTimeout?.();
    if (!this.#ended) this.#contain(this.#finish());
  }

  onFailure(cause: unknown): void {
    this.#bodyEnded = true;
    this.#cancelTimeout?.();
    if (!this.#ended) this.#contain(this.#break(cause));
  }

  /** Nothing follows the dialect's last event: the client need not wait for the upstream to close. */
  async #complete(block: Buffer): Promise<void> {
    const { observer } = this.#options;
    await this.#end(observer.failed ? "failed" : "complete", undefined);
    this.#close(block);
    this.#readOut();
  }

  /** Reads on to the end, so that the connection can be used again; one that stays open is given up. */
  #readOut(): void {
    if (this.#bodyEnded) return;
    const { abort, ticker } = this.#options;
    const giveUp = new GatewayError("upstream_timeout", "The upstream did not end its stream.");
    this.#cancelTimeout = ticker.after(limits.streamEndMsMax, () => abort.abort(giveUp));
    this.#read();
  }

  async #finish(): Promise<void> {
    const { observer } = this.#options;
    try {
      const shown = this.#closing();
      // What is left is half an event: it would swallow the error event behind it.
      if (!observer.failed && !observer.complete) throw new Error("the stream ended early");
      await this.#end(observer.failed ? "failed" : "complete", undefined);
      this.#close(shown);
    } catch (cause) {
      await this.#break(cause);
    }
  }

  /** Gives the client the last that it gets. */
  #close(last: Buffer): void {
    if (this.#closed) return;
    this.#closed = true;
    if (last.length > 0) this.#controller?.enqueue(last);
    this.#controller?.close();
  }

  /** A broken stream ends with an error event, never as if it were whole. */
  async #break(cause: unknown): Promise<void> {
    const error = this.#errorFrom(cause);
    await this.#end("interrupted", error);
    const { events, observer } = this.#options;
    if (events === undefined) {
      // The connection breaks off as well: nothing else tells half a file from a whole one.
      if (!this.#closed) this.#controller?.error(error);
      this.#closed = true;
    } else {
      const gap = Buffer.from(this.#splitter?.atBoundary === false ? "\n\n" : "");
      const held = observer.heldBack?.() ?? NOTHING;
      this.#close(Buffer.concat([gap, held, Buffer.from(events.errorEvent(error))]));
    }
    // Frees the connection where the upstream would go on.
    this.#body.cancel();
  }

  /** What the client is to get of what has arrived. */
  #observe(bytes: Buffer): Buffer {
    this.#lastByteAt = this.#options.ticker.now();
    if (!this.#sawByte) {
      this.#sawByte = true;
      this.#options.onFirstByte();
    }
    return this.#see(this.#splitter === undefined ? bytes : this.#splitter.push(bytes));
  }

  #see(block: Buffer): Buffer {
    if (block.length === 0) return block;
    const { observer, redact, kept } = this.#options;
    const shown = observer.see(block);
    kept?.add(shown);
    // Latin-1 keeps every byte as it is, also where a block begins or ends within a character.
    return observer.failed ? Buffer.from(redact(shown.toString("latin1")), "latin1") : shown;
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
      // A body that nothing is read of need not say that it was ended.
      if (!this.#ended) this.#contain(this.#break(error));
    } else if (
      !this.#closed &&
      quiet >= limits.keepAliveMs &&
      this.#splitter?.atBoundary === true &&
      (controller.desiredSize ?? 0) >= 0
    ) {
      this.#keptAliveAt = now;
      controller.enqueue(KEEP_ALIVE);
    }
  }

  /**
   * An end that goes wrong itself takes its own stream along: nobody else waits for it, and the process must not go. Its
   * charge ends all the same.
   */
  #contain(ending: Promise<void>): void {
    ending.catch((cause: unknown) => {
      this.#body.cancel();
      if (!this.#ended) this.#contain(this.#end("interrupted", this.#errorFrom(cause)));
      if (this.#closed) return;
      this.#closed = true;
      this.#controller?.error(cause);
    });
  }

  #end(end: StreamEnd, error: GatewayError | undefined): Promise<void> {
    if (this.#ended) return Promise.resolve();
    this.#ended = true;
    this.#options.ticker.leave(this);
    return this.#options.onEnd(end, error);
  }
}
