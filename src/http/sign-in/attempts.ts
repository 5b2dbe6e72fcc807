import { type Clock, GatewayError } from "../../core/index.ts";

const WINDOW_MS = 60_000;

/** Failed sign-ins of one network address within a minute. */
const ADDRESS_MAX = 60;
/** Addresses that are counted within a minute, which bounds the memory. Others are not refused: some could lock everybody out then. */
const ADDRESSES_MAX = 1_000;

/** Counts the failed sign-ins of a process. */
export class SignInAttempts {
  readonly #clock: Clock;
  readonly #byAddress = new Map<string, number>();
  #window = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts an attempt, which counts until it has succeeded: then call the returned function. Throws 429 if there were too many. */
  begin(address = "unknown"): () => void {
    const now = this.#clock();
    const window = Math.floor(now / WINDOW_MS);
    if (window !== this.#window) {
      this.#window = window;
      this.#byAddress.clear();
    }
    const ofAddress = this.#byAddress.get(address) ?? 0;
    if (ofAddress >= ADDRESS_MAX)
      throw new GatewayError("rate_limit_exceeded", "Too many sign-ins have failed: wait a minute.", {
        retryAfterSeconds: Math.max(1, Math.ceil(((window + 1) * WINDOW_MS - now) / 1_000)),
      });
    if (this.#byAddress.size >= ADDRESSES_MAX && !this.#byAddress.has(address)) return () => undefined;
    this.#byAddress.set(address, ofAddress + 1);
    return () => {
      if (window !== this.#window) return;
      this.#byAddress.set(address, (this.#byAddress.get(address) ?? 1) - 1);
    };
  }
}
