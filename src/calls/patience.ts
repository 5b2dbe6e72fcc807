import { type CallAbort, GatewayError } from "../core/index.ts";
import type { Ticker, Watched } from "../streaming/index.ts";

export interface PatienceOptions {
  ticker: Ticker;
  /** Ends the upstream call; its reason says why. */
  abort: CallAbort;
  /** Its signal tells that the client has gone. It is looked at on ticks alone: most calls end before the first. */
  client: Pick<Request, "signal">;
  /** How long the call goes on without its client. */
  lingersMs: number;
}

/** How long a call waits for its upstream, and for a client that is no longer there: one entry on the ticker a call. */
export class Patience implements Watched {
  slot = -1;
  readonly abort: CallAbort;
  readonly #options: PatienceOptions;
  #waitMs = Number.POSITIVE_INFINITY;
  #since = 0;
  #complaint = "";
  #lingersUntil: number | undefined;

  constructor(options: PatienceOptions) {
    this.#options = options;
    this.abort = options.abort;
    options.ticker.watch(this);
  }

  /** For another request of the same call, which is awaited beside this one. */
  another(): Patience {
    return new Patience(this.#options);
  }

  get ticker(): Ticker {
    return this.#options.ticker;
  }

  /** From now on the upstream must be heard from within every `milliseconds`; else the call ends with `complaint`. */
  expect(milliseconds: number, complaint: string): void {
    this.#waitMs = milliseconds;
    this.#complaint = complaint;
    this.heard();
  }

  /** The upstream was heard: the wait starts anew. */
  heard(): void {
    this.#since = this.#options.ticker.now();
  }

  /** Nothing is awaited from the upstream for now. */
  rest(): void {
    this.#waitMs = Number.POSITIVE_INFINITY;
  }

  /** Whoever answers for the call from here on watches it in another way. */
  end(): void {
    this.#options.ticker.leave(this);
  }

  onTick(now: number): void {
    if (now - this.#since >= this.#waitMs) this.abort.abort(new GatewayError("upstream_timeout", this.#complaint));
    else if (this.#options.client.signal.aborted) this.#clientGone(now);
  }

  #clientGone(now: number): void {
    this.#lingersUntil ??= now + this.#options.lingersMs;
    if (now >= this.#lingersUntil) {
      this.abort.abort(new GatewayError("upstream_interrupted", "The client went away."));
    }
  }
}
