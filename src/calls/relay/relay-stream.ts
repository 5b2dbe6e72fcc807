/**
 * Passes a stream through: unchanged bytes, in whole events, while an observer reads them.
 *
 *   relaying ──the dialect's last event──▶ ended "complete" ──committed──▶ that event to the client
 *      │ ├────upstream breaks, stalls or ends early──▶ error event to the client ──▶ ended "interrupted", or "failed" if
 *      │ │                                                                          nothing had passed before
 *      │ └────upstream's own error event──▶ passed on ──▶ ended "failed"
 *      └──────client disconnects──▶ upstream aborted ──▶ ended "abandoned"; or, with a retry key, read to its end
 *
 * Before more passes than its hold covers, the relay pauses until the hold is raised: events pass one by one then.
 *
 * `onEnd` is called exactly once. The last event is the client's receipt: it is sent once the charge is durable, so
 * that no process can die between a finished answer and its charge.
 */
import { type Allowance, type ContentSink, outcomeOf, type PaidClient, type StoredBody } from "../../charges/index.ts";
import { type BodySink, type CallAbort, GatewayError, limits, type ReplyBody } from "../../core/index.ts";
import type { StreamObserver, Ticker, Watched } from "../../streaming/index.ts";
import { StreamBlocks, type StreamEvents } from "./stream-blocks.ts";
import { StreamClient } from "./stream-client.ts";
import { StreamMeter } from "./stream-meter.ts";

export type StreamEnd = "complete" | "interrupted" | "failed" | "abandoned";

export interface StreamRelayOptions {
  observer: StreamObserver;
  abort: CallAbort;
  ticker: Ticker;
  idleMsMax: number;
  /** Undefined for a stream of bytes: they pass as they arrive, and break off with the connection. */
  events: StreamEvents | undefined;
  /** Its signal aborts if the client disconnects before it was answered. */
  client: PaidClient;
  /** Collects the sent bytes of a call with a retry key; such a call continues without its client. */
  recorder: StoredBody | undefined;
  /** Gets them too. */
  content?: ContentSink | undefined;
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

const NOTHING = Buffer.alloc(0);

const byteLengthOf = (bytes: Uint8Array | undefined): number => bytes?.byteLength ?? 0;

export function relayStream(body: ReplyBody, options: StreamRelayOptions): ReadableStream<Uint8Array> {
  let relay: StreamRelay;
  return new ReadableStream(
    {
      // Called at once.
      start: (controller) => {
        relay = new StreamRelay(body, options, new StreamClient(controller));
      },
      pull: () => relay.pull(),
      cancel: () => relay.cancel(),
    },
    { highWaterMark: 0, size: byteLengthOf },
  );
}

class StreamRelay implements Watched, BodySink {
  slot = -1;
  readonly #body: ReplyBody;
  readonly #options: StreamRelayOptions;
  readonly #client: StreamClient;
  readonly #blocks: StreamBlocks;
  readonly #meter: StreamMeter;
  #lastByteAt: number;
  #sawByte = false;
  /** Whether the upstream may send: not while the client is far behind, nor while the hold is used up. */
  #flow: "before" | "reading" | "paused" = "before";
  #ended = false;
  #bodyEnded = false;
  /** Stops waiting for the upstream to close. */
  #cancelTimeout: (() => void) | undefined;

  constructor(body: ReplyBody, options: StreamRelayOptions, client: StreamClient) {
    const { recorder, ticker } = options;
    this.#body = body;
    this.#options = options;
    this.#client = client;
    this.#blocks = new StreamBlocks(options);
    this.#meter = new StreamMeter(options, (block) => this.#relay(block));
    this.#lastByteAt = ticker.now();
    ticker.watch(this);
    if (recorder === undefined || !options.client.signal.aborted) return;
    // A client that has already disconnected would never pull the first byte.
    client.close(NOTHING);
    this.#read();
  }

  /** The client has taken all available bytes. */
  pull(): void {
    this.#read();
  }

  /** The client disconnected: with a retry key, the stream is read to its end to store its answer. */
  async cancel(): Promise<void> {
    this.#client.leave();
    if (this.#options.recorder !== undefined && !this.#ended) return this.#read();
    // SDKs disconnect at an error: that was the upstream's end, not the client's.
    const ended = this.#end(this.#options.observer.failed ? "failed" : "abandoned", undefined);
    this.#options.abort.abort(new GatewayError("upstream_interrupted", "The client went away."));
    // Nobody waits for an answer any more, whose charge might not be durable.
    await ended.catch(() => undefined);
  }

  #read(): void {
    if (this.#flow === "reading" || this.#meter.isWaiting) return;
    const isFirst = this.#flow === "before";
    this.#flow = "reading";
    if (isFirst) this.#body.flowTo(this);
    else this.#body.resume();
  }

  #pause(): void {
    this.#flow = "paused";
    this.#body.pause();
  }

  onBytes(bytes: Buffer): void {
    // Bytes after the last event are read so that the connection can be reused.
    if (this.#ended) return;
    try {
      this.#lastByteAt = this.#options.ticker.now();
      if (!this.#sawByte) {
        this.#sawByte = true;
        this.#options.onFirstByte();
      }
      const raised = this.#meter.push(this.#blocks.split(bytes));
      if (raised !== undefined) this.#contain(this.#goOnAfter(raised));
    } catch (cause) {
      this.#contain(this.#break(cause));
    }
  }

  /** Returns whether the stream goes on. */
  #relay(block: Buffer): boolean {
    const shown = this.#blocks.see(block);
    if (this.#options.observer.done) this.#contain(this.#complete(shown));
    else if (this.#client.send(shown)) this.#pause();
    return !this.#ended;
  }

  /** Continues after the hold has been raised, or could not be: then the call is aborted. */
  async #goOnAfter(raised: Promise<void>): Promise<void> {
    const { signal } = this.#options.abort;
    try {
      for (let next: Promise<void> | undefined = raised; next !== undefined; next = this.#meter.resume()) {
        this.#pause();
        await next;
        // Whatever it waited for, timers and sockets have a turn before it waits again.
        await new Promise(setImmediate);
        if (this.#ended) return;
        // A paused body does not report its end.
        if (signal.aborted) throw signal.reason;
      }
    } catch (cause) {
      return this.#break(cause);
    }
    if (this.#ended) return;
    if (this.#bodyEnded) await this.#finish();
    else if (!this.#client.isBehind) this.#read();
  }

  onEnd(): void {
    this.#bodyEnded = true;
    this.#cancelTimeout?.();
    if (!this.#ended && !this.#meter.isWaiting) this.#contain(this.#finish());
  }

  onFailure(cause: unknown): void {
    this.#bodyEnded = true;
    this.#meter.drop();
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
      const shown = this.#blocks.closing();
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
    this.#client.close(last);
  }

  /** A broken stream ends with an error event, never as if it were complete. */
  async #break(cause: unknown): Promise<void> {
    const { abort, events } = this.#options;
    const error = errorFrom(cause, abort);
    const last = events && this.#blocks.withError(events.errorEvent(error));
    // The stream ends with an error in any case.
    await this.#end("broken", error).catch(() => undefined);
    if (last === undefined) this.#client.breakOff(error);
    else this.#client.close(last);
    // Frees the connection if the upstream would continue.
    this.#body.cancel();
  }

  onTick(now: number): void {
    const { signal } = this.#options.abort;
    // A paused body does not report that its request was aborted.
    if (signal.aborted) this.#contain(this.#break(signal.reason));
    else if (now - this.#lastByteAt > this.#options.idleMsMax) {
      const error =
        this.#flow === "reading"
          ? new GatewayError("upstream_timeout", "The upstream's stream fell silent.")
          : new GatewayError("request_timeout", "The stream was not read for too long.");
      this.#options.abort.abort(error);
      // A body without an active read does not report its end.
      if (!this.#ended) this.#contain(this.#break(error));
    } else if (this.#blocks.atBoundary) this.#client.keepAlive(now, this.#lastByteAt);
  }

  /**
   * An exception while ending only breaks its own stream: nothing else awaits it, and the process must survive. Its
   * charge ends anyway.
   */
  #contain(ending: Promise<void>): void {
    ending.catch((cause: unknown) => {
      this.#body.cancel();
      if (!this.#ended) this.#contain(this.#end("broken", errorFrom(cause, this.#options.abort)));
      this.#client.breakOff(cause);
    });
  }

  #end(end: StreamEnd | "broken", error: GatewayError | undefined): Promise<void> {
    if (this.#ended) return Promise.resolve();
    this.#ended = true;
    this.#options.ticker.leave(this);
    // Credits that run out have nothing to do with the upstream.
    const hasBegun = this.#blocks.hasBegun || error?.fault === "client";
    const outcome = end === "broken" ? outcomeOf(error, { hasLeft: false, hasBegun }) : end;
    return this.#options.onEnd(outcome, error);
  }
}

/** The reason for which the call was ended, or else for which the upstream broke off. */
function errorFrom(cause: unknown, { signal }: CallAbort): GatewayError {
  if (signal.aborted && signal.reason instanceof GatewayError) return signal.reason;
  if (cause instanceof GatewayError) return cause;
  return new GatewayError("upstream_interrupted", "The upstream's stream broke off.", { cause });
}
