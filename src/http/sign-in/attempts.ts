import { type Clock, GatewayError } from "../../core/index.ts";

const WINDOW_MS = 60_000;

/** Failed sign-ins within a minute: of one network address, and of all, which bounds the memory too. */
const ADDRESS_MAX = 60;
const PROCESS_MAX = 1_000;

/** Counts the failed sign-ins of a process. */
export class SignInAttempts {
  readonly #clock: Clock;
  readonly #byAddress = new Map<string, number>();
  #window = 0;
  #all = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts an attempt, which counts until it has succeeded: then call the returned function. Throws 429 if there were too many. */
  begin(address = "unknown"): () => void {
    const now = this.#clock();
    const window = Math.floor(now / WINDOW_MS);
    if (window !== this.#window) {
      this.#window = window;
      this.#all = 0;
      this.#byAddress.clear();
    }
    const ofAddress = this.#byAddress.get(address) ?? 0;
    if (ofAddress >= ADDRESS_MAX || this.#all >= PROCESS_MAX)
      throw new GatewayError("rate_limit_exceeded", "Too many sign-ins have failed: wait a minute.", {
        retryAfterSeconds: Math.max(1, Math.ceil(((window + 1) * WINDOW_MS - now) / 1_000)),
      });
    this.#all += 1;
    this.#byAddress.set(address, ofAddress + 1);
    return () => {
      if (window !== this.#window) return;
      this.#all -= 1;
      this.#byAddress.set(address, (this.#byAddress.get(address) ?? 1) - 1);
    };
  }
}
