/**
 * Passes a stream through: unchanged bytes, in whole events, while an observer reads them.
 *
 *   relaying ──the dialect's last event──▶ ended "complete" ──committed──▶ that event to the client
 *      │ ├────upstream breaks, stalls or ends early──▶ error event to the client ──▶ ended "interrupted"
 *      │ └────upstream's own error event──▶ passed on ──▶ ended "failed"
 *      └──────client disconnects──▶ upstream aborted ──▶ ended "abandoned"; or, with a retry key, read to its end
 *
 * Before more passes than its hold covers, the relay pauses until the hold is raised: events pass one by one then.
 *
 * `onEnd` is called exactly once. The last event is the client's receipt: it is sent once the charge is durable, so
 * that no process can die between a finished answer and its charge.
 */
import type { Allowance, StoredBody } from "../charges/index.ts";
import { type BodySink, type CallAbort, GatewayError, limits, type ReplyBody } from "../core/index.ts";
import { eventsOf, type StreamObserver, EventSplitter, type Ticker, type Watched } from "../streaming/index.ts";
import type { CallClient } from "./incoming-call.ts";

export type StreamEnd = "complete" | "interrupted" | "failed" | "abandoned";

export interface StreamRelayOptions {
  observer: StreamObserver;
  abort: CallAbort;
  ticker: Ticker;
  idleMsMax: number;
  /** Undefined for a stream of bytes: they pass as they arrive, and break off with the connection. */
  events: StreamEvents | undefined;
  /** Its signal aborts if the client disconnects before it was answered. */
  client: CallClient;
  /** Collects the sent bytes of a call with a retry key; such a call continues without its client. */
  recorder: StoredBody | undefined;
  /** The output in bytes that may pass before its cost is compared with the hold first. */
  firstAllowance: number;
  /** Compares the cost of the output with its hold; undefined if output is not what is held. */
  follow: ((outputBytes: number) => Allowance) | undefined;
  /** Redacts the upstream's key from an error that repeats it. */
  redact: (text: string) => string;
  onFirstByte: () => void;
  /** Ends the charge. Resolves when that is durable, and rejects if it cannot be: the last event is then withheld. */
  onEnd: (end: StreamEnd, error: GatewayError | undefined) => Promise<void>;
}

/** How the events of a stream are separated, and how its client is notified of a break. */
export interface StreamEvents {
  /** The maximum size of an event that is passed on in one piece. */
  bytesMax: number;
  errorEvent: (error: GatewayError) => string;
}

const NOTHING = Buffer.alloc(0);

/** The share of text in the bytes of a stream: the least that is assumed, and how many times the last one it may become. */
const TEXT_SHARE_MIN = 1 / 64;
const TEXT_SHARE_RISE = 4;
const KEEP_ALIVE = Buffer.from(": keep-alive\n\n");

/** Bytes that may wait for a client before the upstream is paused. */
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
  #lastCommentAt = 0;
  #sawByte = false;
  /** Whether the relay waits for the upstream's bytes; false while the client accepts none. */
  #reading = false;
  #started = false;
  /** Whether the stream is only read to store its answer. */
  #clientGone = false;
  /** Whether the client can receive no more: it has disconnected, or has everything. */
  #closed = false;
  #ended = false;
  #bodyEnded = false;
  /** The output at which its cost must be compared with the hold. */
  #untilBytes = 0;
  /** The received bytes, and how many there may be before the output is counted again. */
  #bytes = 0;
  #countAt = 0;
  /** The received bytes and the output at the last count. */
  #countedBytes = 0;
  #countedOutput = 0;
  /** The blocks that wait for the hold to be raised. */
  #waiting: Buffer[] | undefined;
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
    this.#untilBytes = this.#options.follow === undefined ? Number.POSITIVE_INFINITY : this.#options.firstAllowance;
    // The share of text is unknown before anything has arrived. Without a bound, nothing need be counted.
    this.#countAt = this.#untilBytes;
    if (this.#options.recorder === undefined || !this.#options.client.signal.aborted) return;
    // A client that has already disconnected would never pull the first byte.
    this.#closed = true;
    controller.close();
    this.#continueWithoutClient();
  }

  /** The client has taken all available bytes. */
  pull(): void {
    this.#read();
  }

  /** The client disconnected. */
  async cancel(): Promise<void> {
    this.#closed = true;
    if (this.#options.recorder !== undefined && !this.#ended) return this.#continueWithoutClient();
    // SDKs disconnect at an error: that was the upstream's end, not the client's.
    const ended = this.#end(this.#options.observer.failed ? "failed" : "abandoned", undefined);
    this.#options.abort.abort(new GatewayError("upstream_interrupted", "The client went away."));
    // Nobody waits for an answer any more, whose charge might not be durable.
    await ended.catch(() => undefined);
  }

  #continueWithoutClient(): void {
    this.#clientGone = true;
    this.#read();
  }

  #read(): void {
    if (this.#reading || this.#waiting !== undefined) return;
    this.#reading = true;
    if (this.#started) return this.#body.resume();
    this.#started = true;
    this.#body.flowTo(this);
  }

  onBytes(bytes: Buffer): void {
    // Bytes after the last event are read so that the connection can be reused.
    if (this.#ended) return;
    try {
      const block = this.#split(bytes);
      if (this.#waiting !== undefined) this.#wait(block);
      else if (this.#isCovered(block)) this.#relay(block);
      else this.#relayMetered(block);
    } catch (cause) {
      this.#contain(this.#break(cause));
    }
  }

  /** Whether the hold covers a block, so that it passes in one piece. */
  #isCovered({ length }: Buffer): boolean {
    const before = this.#bytes;
    this.#bytes += length;
    if (this.#bytes >= this.#countAt) this.#count(before);
    return this.#bytes < this.#countAt;
  }

  /**
   * Counts the output exactly, of so many bytes received, and decides when to count again: exact counts cost more than
   * lengths. Most of an event is no text; until the next count, the share of text may rise to several times the last one.
   */
  #count(bytes: number): void {
    const { outputBytes } = this.#options.observer;
    const received = bytes - this.#countedBytes;
    const share = received === 0 ? 1 : (TEXT_SHARE_RISE * (outputBytes - this.#countedOutput)) / received;
    this.#countedBytes = bytes;
    this.#countedOutput = outputBytes;
    this.#countAt = bytes + (this.#untilBytes - outputBytes) / Math.min(Math.max(share, TEXT_SHARE_MIN), 1);
  }

  #relay(block: Buffer): void {
    const shown = this.#see(block);
    if (this.#options.observer.done) this.#contain(this.#complete(shown));
    else this.#pass(shown);
  }

  /** Relays the last block, as many events at once as the hold covers, until it is used up. */
  #relayMetered(block: Buffer): void {
    const before = this.#bytes - block.length;
    let start = 0;
    let end = 0;
    for (const { length } of eventsOf(block)) {
      if (end > start && before + end + length >= this.#countAt) {
        if (this.#passUpTo(block, start, end)) return;
        start = end;
      }
      end += length;
    }
    this.#passUpTo(block, start, end);
  }

  /** Relays a part of the last block. Returns whether nothing more of it may pass now. */
  #passUpTo(block: Buffer, start: number, end: number): boolean {
    this.#relay(block.subarray(start, end));
    if (this.#ended) return true;
    const raised = this.#follow();
    this.#count(this.#bytes - block.length + end);
    if (raised === undefined) return false;
    this.#waitFor(raised, end === block.length ? [] : [block.subarray(end)]);
    return true;
  }

  /** Compares the cost with the hold if it is time. Returns what to wait for if the hold is used up. */
  #follow(): Promise<void> | undefined {
    const { follow, observer } = this.#options;
    const { outputBytes } = observer;
    if (follow === undefined || outputBytes < this.#untilBytes) return undefined;
    const { untilBytes, raised } = follow(outputBytes);
    this.#untilBytes = untilBytes;
    return raised;
  }

  #waitFor(raised: Promise<void>, waiting: Buffer[]): void {
    this.#waiting = waiting;
    this.#reading = false;
    this.#body.pause();
    this.#contain(raised.then(() => this.#continue()));
  }

  #wait(block: Buffer): void {
    this.#bytes += block.length;
    this.#waiting?.push(block);
  }

  /** Continues after the hold has been raised, or could not be: then the call is aborted. */
  async #continue(): Promise<void> {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    if (this.#ended) return;
    const { signal } = this.#options.abort;
    // A paused body does not report its end.
    if (signal.aborted) return this.#break(signal.reason);
    this.#untilBytes = 0;
    const raised = this.#follow();
    if (raised !== undefined) return this.#waitFor(raised, waiting);
    const rest = Buffer.concat(waiting);
    this.#count(this.#bytes - rest.length);
    this.#relayMetered(rest);
    // It may wait again, or have ended.
    if (this.#waiting !== undefined || this.#ended) return;
    if (this.#bodyEnded) await this.#finish();
    else this.#read();
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
    if (!this.#ended && this.#waiting === undefined) this.#contain(this.#finish());
  }

  onFailure(cause: unknown): void {
    this.#bodyEnded = true;
    this.#waiting = undefined;
    this.#cancelTimeout?.();
    if (!this.#ended) this.#contain(this.#break(cause));
  }

  /** Nothing follows the dialect's last event: the client need not wait for the upstream to close. */
  async #complete(block: Buffer): Promise<void> {
    try {
      await this.#endAndClose(block);
      this.#readOut();
    } catch (cause) {
      await this.#break(cause);
    }
  }

  /** Reads to the end, so that the connection can be reused; one that stays open is closed. */
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
      // The remainder is half an event: it would swallow the error event after it.
      const isEnded = observer.complete || (observer.failed && observer.cut !== true);
      if (!isEnded) throw new Error("the stream ended early");
      await this.#endAndClose(shown);
    } catch (cause) {
      await this.#break(cause);
    }
  }

  /** Sends the last bytes once the charge is durable. */
  async #endAndClose(last: Buffer): Promise<void> {
    await this.#end(this.#options.observer.failed ? "failed" : "complete", undefined);
    this.#close(last);
  }

  /** Sends the last bytes to the client. */
  #close(last: Buffer): void {
    if (this.#closed) return;
    this.#closed = true;
    if (last.length > 0) this.#controller?.enqueue(last);
    this.#controller?.close();
  }

  /** A broken stream ends with an error event, never as if it were complete. */
  async #break(cause: unknown): Promise<void> {
    const error = this.#errorFrom(cause);
    // The stream ends with an error in any case.
    await this.#end("interrupted", error).catch(() => undefined);
    const { events, observer } = this.#options;
    if (events === undefined) {
      // The connection breaks off as well, because nothing else distinguishes half a file from a whole one.
      if (!this.#closed) this.#controller?.error(error);
      this.#closed = true;
    } else {
      const gap = Buffer.from(this.#splitter?.atBoundary === false ? "\n\n" : "");
      const held = observer.heldBack?.() ?? NOTHING;
      this.#close(Buffer.concat([gap, held, Buffer.from(events.errorEvent(error))]));
    }
    // Frees the connection if the upstream would continue.
    this.#body.cancel();
  }

  /** The whole events in the received bytes. */
  #split(bytes: Buffer): Buffer {
    this.#lastByteAt = this.#options.ticker.now();
    if (!this.#sawByte) {
      this.#sawByte = true;
      this.#options.onFirstByte();
    }
    return this.#splitter === undefined ? bytes : this.#splitter.push(bytes);
  }

  #see(block: Buffer): Buffer {
    if (block.length === 0) return block;
    const { observer, redact, recorder } = this.#options;
    const shown = observer.see(block);
    recorder?.add(shown);
    // Latin-1 preserves every byte, also if a block begins or ends within a character.
    return observer.failed ? Buffer.from(redact(shown.toString("latin1")), "latin1") : shown;
  }

  /** The bytes after the last whole event. */
  #closing(): Buffer {
    const { observer, recorder } = this.#options;
    const rest = this.#see(this.#splitter?.rest() ?? NOTHING);
    if (observer.close === undefined || observer.done) return rest;
    const last = observer.close();
    recorder?.add(last);
    return rest.length === 0 ? last : Buffer.concat([rest, last]);
  }

  /** The reason for which the call was ended, or else for which the upstream broke off. */
  #errorFrom(cause: unknown): GatewayError {
    const { signal } = this.#options.abort;
    if (signal.aborted && signal.reason instanceof GatewayError) return signal.reason;
    if (cause instanceof GatewayError) return cause;
    return new GatewayError("upstream_interrupted", "The upstream's stream broke off.", { cause });
  }

  onTick(now: number): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    const silence = now - this.#lastByteAt;
    const quiet = now - Math.max(this.#lastByteAt, this.#lastCommentAt);
    if (silence > this.#options.idleMsMax) {
      const error = this.#reading
        ? new GatewayError("upstream_timeout", "The upstream's stream fell silent.")
        : new GatewayError("request_timeout", "The stream was not read for too long.");
      this.#options.abort.abort(error);
      // A body without an active read does not report its end.
      if (!this.#ended) this.#contain(this.#break(error));
    } else if (
      !this.#closed &&
      quiet >= limits.keepAliveMs &&
      this.#splitter?.atBoundary === true &&
      (controller.desiredSize ?? 0) >= 0
    ) {
      this.#lastCommentAt = now;
      controller.enqueue(KEEP_ALIVE);
    }
  }

  /**
   * An exception while ending only breaks its own stream: nothing else awaits it, and the process must survive. Its
   * charge ends anyway.
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
