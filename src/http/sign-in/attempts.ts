import { type Clock, GatewayError } from "../../core/index.ts";

const WINDOW_MS = 60_000;

/** Failed sign-ins of one network within a minute; a proxy may stand for many people. */
const FAILED_MAX = 60;

/** Networks and tokens that are counted in a minute: it bounds the memory. */
const COUNTS_MAX = 10_000;

/** An IPv6 host has the addresses of its first four groups. */
const networkOf = (address: string): string => (address.includes(":") ? address.split(":", 4).join(":") : address);

/** Sessions that one token begins within a minute. */
const BEGUN_MAX = 30;

/**
 * Counts the sign-ins of a process. Those that would succeed are refused by nobody else's failures: a secret is found out by no trying,
 * and others of the same network, or behind the same proxy, must not keep people out.
 */
export class SignInAttempts {
  readonly #clock: Clock;
  readonly #counts = new Map<string, number>();
  #window = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves as an attempt does. A refusal of who signs in counts: too many of a network are 429 in place of it. */
  async of<Result>(address: string | undefined, attempt: Promise<Result>): Promise<Result> {
    try {
      return await attempt;
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.status === 401) this.#count(networkOf(address ?? ""), FAILED_MAX);
      throw thrown;
    }
  }

  /** Before a session is begun with a token. Throws 429 if it has begun many. */
  begin(tokenId: string): void {
    this.#count(`token ${tokenId}`, BEGUN_MAX);
  }

  #count(key: string, max: number): void {
    const now = this.#clock();
    const window = Math.floor(now / WINDOW_MS);
    if (window !== this.#window) {
      this.#window = window;
      this.#counts.clear();
    }
    const count = this.#counts.get(key) ?? 0;
    if (count >= max)
      throw new GatewayError("rate_limit_exceeded", "Too many sign-ins: wait a minute.", {
        retryAfterSeconds: Math.max(1, Math.ceil(((window + 1) * WINDOW_MS - now) / 1_000)),
      });
    if (count > 0 || this.#counts.size < COUNTS_MAX) this.#counts.set(key, count + 1);
  }
}
