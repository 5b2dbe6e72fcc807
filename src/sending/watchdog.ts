import { type CallAbort, GatewayError } from "../core/index.ts";
import type { Ticker, Watched } from "../streaming/index.ts";

export interface WatchdogOptions {
  ticker: Ticker;
  /** Ends the upstream call; its reason says why. */
  abort: CallAbort;
  /** Its signal tells that the client has gone. It is looked at on ticks alone: most calls end before the first. */
  client: Pick<Request, "signal">;
  /** How long the call goes on without its client. */
  clientGoneGraceMs: number;
}

/** Watches how long a call waits for its upstream, and goes on without its client: one entry on the ticker a call. */
export class CallWatchdog implements Watched {
  slot = -1;
  readonly abort: CallAbort;
  readonly #options: WatchdogOptions;
  #waitMs = Number.POSITIVE_INFINITY;
  #since = 0;
  #timeoutMessage = "";
  #graceUntil: number | undefined;

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.abort = options.abort;
    options.ticker.watch(this);
  }

  /** For another request of the same call, which is awaited beside this one. */
  another(): CallWatchdog {
    return new CallWatchdog(this.#options);
  }

  get ticker(): Ticker {
    return this.#options.ticker;
  }

  /** From now on the upstream must be heard from within every `milliseconds`; else the call ends with `timeoutMessage`. */
  expect(milliseconds: number, timeoutMessage: string): void {
    this.#waitMs = milliseconds;
    this.#timeoutMessage = timeoutMessage;
    this.heard();
  }

  /** The upstream was heard: the wait starts anew. */
  heard(): void {
    this.#since = this.#options.ticker.now();
  }

  /** Nothing is awaited from the upstream for now. */
  stopWaiting(): void {
    this.#waitMs = Number.POSITIVE_INFINITY;
  }

  /** Whoever answers for the call from here on watches it in another way. */
  end(): void {
    this.#options.ticker.leave(this);
  }

  onTick(now: number): void {
    if (now - this.#since >= this.#waitMs) this.abort.abort(new GatewayError("upstream_timeout", this.#timeoutMessage));
    else if (this.#options.client.signal.aborted) this.#clientGone(now);
  }

  #clientGone(now: number): void {
    this.#graceUntil ??= now + this.#options.clientGoneGraceMs;
    if (now >= this.#graceUntil) {
      this.abort.abort(new GatewayError("upstream_interrupted", "The client went away."));
    }
  }
}
