/** What the prompt caches of targets have of each session, as far as this process has seen its answers. */
import type { Clock, Usage } from "../core/index.ts";

/** How long a cache is taken to last after its last use: the shortest lifetime of all providers. */
const CACHED_MS = 5 * 60_000;

const SESSIONS_MAX = 10_000;

export class SessionCaches {
  readonly #clock: Clock;
  /** In the order of their last use. */
  readonly #cached = new Map<string, { tokens: number; until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The tokens of the session's input that a model is likely to read from its cache. */
  of(session: string | undefined, model: string): number {
    const found = session === undefined ? undefined : this.#cached.get(keyOf(session, model));
    return found !== undefined && found.until > this.#clock() ? found.tokens : 0;
  }

  /** A model has answered a call of the session, with this usage. */
  note(session: string | undefined, model: string, { cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0 }: Usage): void {
    const tokens = cacheRead + cacheWrite5m + cacheWrite1h;
    if (session === undefined || tokens === 0) return;
    const key = keyOf(session, model);
    this.#cached.delete(key);
    this.#cached.set(key, { tokens, until: this.#clock() + CACHED_MS });
    const [oldest] = this.#cached.keys();
    if (oldest !== undefined && this.#cached.size > SESSIONS_MAX) this.#cached.delete(oldest);
  }
}

/** A model id has no spaces at its beginning, a session may have any. */
const keyOf = (session: string, model: string): string => `${model}\n${session}`;
