import { type CallAbort, CallAborter, GatewayError } from "../../core/index.ts";
import type { Ticker, Watched } from "../../streaming/index.ts";

export interface WatchdogOptions {
  ticker: Ticker;
  /** Ends the upstream call with a reason. */
  abort: CallAbort;
  /**
   * Its signal aborts if the client disconnects. It is only checked on ticks, because most calls end before the first.
   */
  client: Pick<Request, "signal">;
  /** How long the call continues without its client. */
  clientGoneGraceMs: number;
}

/**
 * Monitors how long a call waits for its upstream, and continues without its client: one entry on the ticker per call.
 */
export class CallWatchdog implements Watched {
  slot = -1;
  readonly abort: CallAbort;
  #options: WatchdogOptions;
  #waitMs = Number.POSITIVE_INFINITY;
  #since = 0;
  #timeoutMessage = "";
  #graceUntil: number | undefined;
  #deadline = Number.POSITIVE_INFINITY;

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.abort = options.abort;
    options.ticker.watch(this);
  }

  /** For another request of the same call, which is awaited in parallel. */
  another(): CallWatchdog {
    return new CallWatchdog(this.#options);
  }

  /** For one attempt of the call: its time-outs end the attempt alone, and the end of the call ends it too. */
  ofAttempt(): CallWatchdog {
    const abort = new CallAborter();
    const { signal } = this.abort;
    const follow = (): void => abort.abort(signal.reason);
    if (signal.aborted) follow();
    else signal.addEventListener("abort", { handleEvent: follow });
    return new CallWatchdog({ ...this.#options, abort, clientGoneGraceMs: Number.POSITIVE_INFINITY });
  }

  get ticker(): Ticker {
    return this.#options.ticker;
  }

  /**
   * From now on the upstream must send something within every `milliseconds`; otherwise the call ends with
   * `timeoutMessage`.
   */
  expect(milliseconds: number, timeoutMessage: string): void {
    this.#waitMs = milliseconds;
    this.#timeoutMessage = timeoutMessage;
    this.restart();
  }

  /** Ends the call after this time, however busy the upstream is. */
  limitTotal(milliseconds: number): void {
    this.#deadline = this.#options.ticker.now() + milliseconds;
  }

  /** Replaces the client. The call ends as soon as the new one disconnects. */
  waitFor(client: WatchdogOptions["client"]): void {
    this.#options = { ...this.#options, client, clientGoneGraceMs: 0 };
    this.#graceUntil = undefined;
  }

  /** Whether the call was ended because its client had disconnected. */
  get isAbandoned(): boolean {
    const { reason } = this.abort.signal;
    return (
      this.#options.client.signal.aborted && reason instanceof GatewayError && reason.code === "upstream_interrupted"
    );
  }

  /** The upstream has sent something: the time-out restarts. */
  restart(): void {
    this.#since = this.#options.ticker.now();
  }

  /** Nothing is expected from the upstream for now. */
  stopWaiting(): void {
    this.#waitMs = Number.POSITIVE_INFINITY;
  }

  /** The code that takes over the call from here monitors it differently. */
  end(): void {
    this.#options.ticker.leave(this);
  }

  onTick(now: number): void {
    if (now - this.#since >= this.#waitMs) this.abort.abort(new GatewayError("upstream_timeout", this.#timeoutMessage));
    else if (now >= this.#deadline)
      this.abort.abort(new GatewayError("upstream_timeout", "The upstream's answer took too long."));
    else if (this.#options.client.signal.aborted) this.#clientGone(now);
  }

  /** A client that the gateway itself has ended, such as one that is asked something while the server stops, has not left. */
  #clientGone(now: number): void {
    const reason: unknown = this.#options.client.signal.reason;
    if (reason instanceof GatewayError && reason.fault === "gateway") return this.abort.abort(reason);
    this.#graceUntil ??= now + this.#options.clientGoneGraceMs;
    if (now >= this.#graceUntil) {
      this.abort.abort(new GatewayError("upstream_interrupted", "The client went away."));
    }
  }
}
