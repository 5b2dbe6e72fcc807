/**
 * The attempts of one request at one target: the key of each, and whether and when another one follows.
 */
import { type Environment, failureTraits } from "../core/index.ts";
import type { Key, Target } from "../routing/index.ts";
import { type FailedAttempt, mayRepeat, type RepeatRule } from "./repeat-rule.ts";

export interface AttemptPolicy {
  /** Further attempts after the first. */
  retries: number;
  /** The longest requested delay that is respected. */
  retryAfterMsMax: number;
}

export interface Attempt {
  key: Key;
  /** Counted from 1. */
  number: number;
}

/** The delay between attempts grows from this value up to the cap, with random jitter down to a half. */
const BACKOFF_MS = 250;
const BACKOFF_MS_MAX = 4_000;

export interface AttemptsOptions {
  target: Pick<Target, "route" | "operation"> & Partial<Pick<Target, "model">>;
  /** POST by default. */
  method?: "GET" | "DELETE" | undefined;
  repeats: RepeatRule;
  /**
   * The id of the one key that can make this request, because it made the requested object; any key if that one no
   * longer exists.
   */
  pinnedKeyId?: string | undefined;
  /** The id of the key of the first attempt; another one can make this request too, if not as well. */
  preferredKeyId?: string | undefined;
  /** The key of its session, whose calls prefer one key of the provider. */
  session?: string | undefined;
  /** Whether another target is left, which comes before any wait. */
  hasNext?: boolean | undefined;
}

/**
 * What a key can be refused for: the path of an operation, and the method before it unless that is POST. A key may read what it
 * may not write.
 */
export function operationName({ target, method }: Pick<AttemptsOptions, "target" | "method">): string {
  const { path } = target.operation;
  return method === undefined ? path : `${method}:${path}`;
}

export class Attempts {
  readonly #options: AttemptsOptions;
  readonly #policy: AttemptPolicy;
  readonly #randomFraction: Environment["randomFraction"];
  readonly #pinned: Key | undefined;
  #begun = 0;

  constructor(options: AttemptsOptions, policy: AttemptPolicy, randomFraction: Environment["randomFraction"]) {
    const { target, pinnedKeyId } = options;
    this.#options = options;
    this.#policy = policy;
    this.#randomFraction = randomFraction;
    this.#pinned = pinnedKeyId === undefined ? undefined : target.route.keys.find(pinnedKeyId);
  }

  /** The next attempt, with its key; undefined if all keys of the provider are refused. */
  begin(): Attempt | undefined {
    const { target, preferredKeyId, session } = this.#options;
    const { route } = target;
    const preferred = preferredKeyId !== undefined && this.#begun === 0 ? route.keys.find(preferredKeyId) : undefined;
    const key = this.#pinned ?? preferred ?? route.keys.acquire(session, operationName(this.#options), target.model);
    if (key === undefined && route.keys.ids.length === 0)
      throw new Error(`provider ${route.prefix} is routed without a key`);
    if (key === undefined) return undefined;
    this.#begun += 1;
    return { key, number: this.#begun };
  }

  /** The delay before the next attempt, in milliseconds; undefined if there is none. */
  waitAfter({ key, number }: Attempt, failed: FailedAttempt): number | undefined {
    const { target, repeats, hasNext } = this.#options;
    const policy = this.#policy;
    const { failure } = failed;
    if (number > policy.retries || failure === "abandoned" || !mayRepeat(repeats, failed)) return undefined;
    const hasOtherKey =
      this.#pinned === undefined &&
      failureTraits[failure.name].key !== "fine" &&
      target.route.keys.hasOther(key, operationName(this.#options), target.model);
    if (hasOtherKey) return 0;
    if (!failure.retryable || hasNext === true) return undefined;
    if (failure.retryAfterMs === undefined) return failure.needsRetryAfter ? undefined : this.#backoff(number);
    return failure.retryAfterMs <= policy.retryAfterMsMax ? failure.retryAfterMs : undefined;
  }

  #backoff(number: number): number {
    return Math.min(BACKOFF_MS * 2 ** (number - 1), BACKOFF_MS_MAX) * (0.5 + this.#randomFraction() / 2);
  }
}
