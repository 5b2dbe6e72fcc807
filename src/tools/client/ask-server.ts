/** The bounds of a request to a server of tools. */
import { CallAborter, type CallSignal, GatewayError } from "../../core/index.ts";
import type { Ticker } from "../../streaming/index.ts";

interface Asked {
  /** For messages: the name of the server. */
  name: string;
  ticker: Ticker;
  timeoutMs: number;
  signal?: CallSignal | undefined;
}

/**
 * Asks a server until it has answered, its time is over, or the caller leaves. Rejects with the reason of the signal, or with a
 * `GatewayError`: `upstream_timeout`, and `upstream_unreachable` for every failure that is none.
 */
export async function askServer<Answer>(
  { name, ticker, timeoutMs, signal }: Asked,
  ask: (abort: CallAborter, limit: TimeLimit) => Promise<Answer>,
): Promise<Answer> {
  if (signal?.aborted === true) throw signal.reason;
  const abort = new CallAborter();
  const follow = { handleEvent: () => abort.abort(signal?.reason) };
  signal?.addEventListener("abort", follow);
  const limit = new TimeLimit(ticker, timeoutMs, () => abort.abort(tooLate(name)));
  try {
    return await ask(abort, limit);
  } catch (thrown) {
    if (abort.aborted) throw abort.reason;
    if (thrown instanceof GatewayError) throw thrown;
    throw new GatewayError("upstream_unreachable", `The server ${name} cannot be reached.`, { cause: thrown });
  } finally {
    limit.end();
    signal?.removeEventListener("abort", follow);
  }
}

/** The time that a server has for its answer. It stands still while the server waits for the client. */
export class TimeLimit {
  readonly #ticker: Ticker;
  readonly #onOver: () => void;
  #leftMs: number;
  #since = 0;
  #pauses = 0;
  #stop: () => void = () => undefined;

  constructor(ticker: Ticker, milliseconds: number, onOver: () => void) {
    this.#ticker = ticker;
    this.#leftMs = milliseconds;
    this.#onOver = onOver;
    this.#run();
  }

  /** In milliseconds. */
  get leftMs(): number {
    return this.#pauses > 0 ? this.#leftMs : this.#leftMs - (this.#ticker.now() - this.#since);
  }

  /** Resolves or rejects as `wait` does, whose time does not count. */
  async without<Result>(wait: () => Promise<Result>): Promise<Result> {
    if (this.#pauses === 0) {
      this.#stop();
      this.#leftMs -= this.#ticker.now() - this.#since;
    }
    this.#pauses += 1;
    try {
      return await wait();
    } finally {
      this.#pauses -= 1;
      if (this.#pauses === 0) this.#run();
    }
  }

  end(): void {
    this.#pauses = Number.POSITIVE_INFINITY;
    this.#stop();
  }

  #run(): void {
    this.#since = this.#ticker.now();
    this.#stop = this.#ticker.after(Math.max(this.#leftMs, 0), this.#onOver);
  }
}

export function tooLate(name: string): GatewayError {
  return new GatewayError("upstream_timeout", `The server ${name} does not answer in time.`);
}

export function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError("upstream_invalid_answer", `The answer of the server is longer than ${bytesMax} bytes.`);
}
