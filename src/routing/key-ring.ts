import type { Clock } from "../core/index.ts";

/** How long a key rests that was refused: long enough not to hammer, short enough that a repaired key comes back. */
const REFUSED_REST_MS = 60_000;

/** How long a key rests that hit a rate limit without saying for how long. */
const LIMITED_REST_MS = 5_000;

/** A shorter key is a stand-in for a server that wants none (`ollama`, `none`): a word that its errors may hold. */
const SECRET_CHARACTERS_MIN = 12;

/** A provider's keys, used in turn; one that was refused or limited rests. */
export class KeyRing {
  readonly #keys: { key: string; restsUntil: number }[];
  readonly #clock: Clock;
  #next = 0;

  constructor(keys: readonly string[], clock: Clock) {
    this.#keys = keys.map((key) => ({ key, restsUntil: 0 }));
    this.#clock = clock;
  }

  /** The next key that does not rest; where all rest, the one that wakes first. Undefined where there are none. */
  take(): string | undefined {
    let earliest: { key: string; restsUntil: number } | undefined;
    for (let tried = 0; tried < this.#keys.length; tried += 1) {
      const candidate = this.#keys[this.#next];
      this.#next = (this.#next + 1) % this.#keys.length;
      if (candidate === undefined) continue;
      // Most have never rested: then nobody needs to know the time.
      if (candidate.restsUntil === 0 || candidate.restsUntil <= this.#clock()) return candidate.key;
      if (earliest === undefined || candidate.restsUntil < earliest.restsUntil) earliest = candidate;
    }
    return earliest?.key;
  }

  /** Whether a key other than `key` could be used now. */
  hasOther(key: string): boolean {
    const now = this.#clock();
    return this.#keys.some((candidate) => candidate.key !== key && candidate.restsUntil <= now);
  }

  rest(key: string, why: "refused" | "limited", retryAfterMs: number | undefined): void {
    const milliseconds = why === "refused" ? REFUSED_REST_MS : (retryAfterMs ?? LIMITED_REST_MS);
    for (const candidate of this.#keys) {
      if (candidate.key === key) candidate.restsUntil = this.#clock() + milliseconds;
    }
  }

  /** `text` without any of the keys: some upstreams repeat the key in the error that refuses it. */
  scrub(text: string): string {
    const secret = this.#keys.filter(({ key }) => key.length >= SECRET_CHARACTERS_MIN);
    return secret.reduce((scrubbed, { key }) => scrubbed.replaceAll(key, "[redacted]"), text);
  }
}
