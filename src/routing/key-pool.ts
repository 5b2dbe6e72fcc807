import { createHash } from "node:crypto";
import type { Clock } from "../core/index.ts";

/** How long a refused key is left alone: long enough not to hammer, short enough that a repaired key comes back. */
const REFUSED_COOL_DOWN_MS = 60_000;

/** How long a key is left alone that hit a rate limit without a wait being named. */
const LIMITED_COOL_DOWN_MS = 5_000;

/** A shorter key is a stand-in for a server that wants none (`ollama`, `none`): a word that its errors may hold. */
const SECRET_CHARACTERS_MIN = 12;

const KEY_ID_CHARACTERS = 16;

/** One of a provider's keys. */
export interface Key {
  /** A hash of the secret. It is stored with whatever the key made, so that later requests for that go out with it. */
  readonly id: string;
  readonly secret: string;
  /** Headers of requests with this key, kept since thousands of calls have the same. */
  readonly heads: KeptHead[];
}

interface KeptHead {
  path: string;
  accept: string;
  headers: Headers;
}

/** A provider's keys, used in turn; one that was refused or limited cools down. */
export class KeyPool {
  readonly #keys: readonly { readonly key: Key; coolUntil: number }[];
  readonly #clock: Clock;
  #next = 0;

  constructor(secrets: readonly string[], clock: Clock) {
    this.#keys = secrets.map((secret) => ({ key: { id: keyIdOf(secret), secret, heads: [] }, coolUntil: 0 }));
    this.#clock = clock;
  }

  /** The next key that is not cooling down; among keys that all are, the one that is ready first. Undefined without keys. */
  acquire(): Key | undefined {
    let earliest: { readonly key: Key; coolUntil: number } | undefined;
    for (let tried = 0; tried < this.#keys.length; tried += 1) {
      const candidate = this.#keys[this.#next];
      this.#next = (this.#next + 1) % this.#keys.length;
      if (candidate === undefined) continue;
      // Most keys have never cooled down: they need no look at the clock.
      if (candidate.coolUntil === 0 || candidate.coolUntil <= this.#clock()) return candidate.key;
      if (earliest === undefined || candidate.coolUntil < earliest.coolUntil) earliest = candidate;
    }
    return earliest?.key;
  }

  /** The key of this id; undefined where the operator has taken it out of the configuration. */
  find(id: string): Key | undefined {
    return this.#keys.find(({ key }) => key.id === id)?.key;
  }

  /** Whether a key other than this one could be used now. */
  hasOther({ id }: Key): boolean {
    const now = this.#clock();
    return this.#keys.some(({ key, coolUntil }) => key.id !== id && coolUntil <= now);
  }

  coolDown({ id }: Key, why: "refused" | "limited", retryAfterMs: number | undefined): void {
    const milliseconds = why === "refused" ? REFUSED_COOL_DOWN_MS : (retryAfterMs ?? LIMITED_COOL_DOWN_MS);
    for (const candidate of this.#keys) {
      if (candidate.key.id === id) candidate.coolUntil = this.#clock() + milliseconds;
    }
  }

  /** `text` without any of the keys: some upstreams repeat the key in the error that refuses it. */
  redact(text: string): string {
    const secrets = this.#keys.map(({ key }) => key.secret).filter((secret) => secret.length >= SECRET_CHARACTERS_MIN);
    return secrets.reduce((redacted, secret) => redacted.replaceAll(secret, "[redacted]"), text);
  }
}

/** The id of a key with this secret. */
export function keyIdOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url").slice(0, KEY_ID_CHARACTERS);
}
