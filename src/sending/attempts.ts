/**
 * The attempts of one request: which key each goes out with, and whether and when another one follows. Another target for
 * the same work would be tried from here too, once its keys are used up.
 */
import type { Environment } from "../core/index.ts";
import type { Key, Target } from "../routing/index.ts";
import type { FailureClass } from "./classify-failure.ts";

export interface AttemptPolicy {
  /** Further attempts after the first. */
  retries: number;
  /** The longest wait named by an upstream that is waited for. */
  retryAfterMsMax: number;
}

export interface Attempt {
  key: Key;
  /** Counted from 1. */
  number: number;
}

/** Waits between attempts grow from this, halved or not by chance, up to the cap. */
const BACKOFF_MS = 250;
const BACKOFF_MS_MAX = 4_000;

export interface AttemptsOptions {
  target: Pick<Target, "route">;
  policy: AttemptPolicy;
  /** The id of the one key that can do this, since it made what is asked for; any key where that one is gone. */
  pinnedKeyId?: string | undefined;
  randomFraction: Environment["randomFraction"];
}

export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #pinned: Key | undefined;
  #begun = 0;

  constructor(options: AttemptsOptions) {
    const { target, pinnedKeyId } = options;
    this.#options = options;
    this.#pinned = pinnedKeyId === undefined ? undefined : target.route.keys.find(pinnedKeyId);
  }

  /** The next attempt, with the key that it goes out with. */
  begin(): Attempt {
    const { route } = this.#options.target;
    const key = this.#pinned ?? route.keys.acquire();
    if (key === undefined) throw new Error(`provider ${route.prefix} is routed without a key`);
    this.#begun += 1;
    return { key, number: this.#begun };
  }

  /** How long to wait before the next attempt, in milliseconds; undefined where none is to follow. */
  waitAfter({ key, number }: Attempt, failure: FailureClass): number | undefined {
    const { policy, target } = this.#options;
    if (number > policy.retries) return undefined;
    const hasOtherKey = this.#pinned === undefined && failure.key !== "fine" && target.route.keys.hasOther(key);
    if (hasOtherKey) return 0;
    if (!failure.retryable) return undefined;
    if (failure.retryAfterMs === undefined) return failure.needsRetryAfter ? undefined : this.#backoff(number);
    return failure.retryAfterMs <= policy.retryAfterMsMax ? failure.retryAfterMs : undefined;
  }

  #backoff(number: number): number {
    return Math.min(BACKOFF_MS * 2 ** (number - 1), BACKOFF_MS_MAX) * (0.5 + this.#options.randomFraction() / 2);
  }
}
