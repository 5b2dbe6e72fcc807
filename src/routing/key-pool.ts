import { createHash } from "node:crypto";
import { type Clock, type FailureName, failureTraits } from "../core/index.ts";
import { keyRedactor } from "./redact-keys.ts";

/**
 * Cool-down of a refused key: long enough not to flood the upstream, short enough for a repaired key to be used soon.
 */
const REFUSED_COOL_DOWN_MS = 60_000;

/** Cool-down of a rate-limited key if the upstream specifies no time to wait. */
const LIMITED_COOL_DOWN_MS = 5_000;

const KEY_ID_CHARACTERS = 16;

/** One key of a provider. */
export interface Key {
  /**
   * A hash of the secret. It is stored with resources created by this key, so that later requests for them use it too.
   */
  readonly id: string;
  readonly secret: string;
  /** The headers of requests with this key, cached because thousands of calls have the same ones. */
  readonly cachedHeaders: CachedHeaders[];
}

interface CachedHeaders {
  path: string;
  accept: string;
  headers: Headers;
}

/** A provider's keys, used in turn. A key that was refused or rate limited cools down. */
export class KeyPool {
  readonly #keys: readonly { readonly key: Key; coolUntil: number }[];
  readonly #clock: Clock;
  /** Replaces all keys in a text of an upstream: some repeat the key in the error that refuses it. */
  readonly redact: (text: string) => string;
  #next = 0;

  constructor(secrets: readonly string[], clock: Clock) {
    this.#keys = secrets.map((secret) => ({ key: { id: keyIdOf(secret), secret, cachedHeaders: [] }, coolUntil: 0 }));
    this.#clock = clock;
    this.redact = keyRedactor(secrets);
  }

  /** Returns the next key that isn't cooling down; if all are, the one that is ready first. Undefined without keys. */
  acquire(): Key | undefined {
    let earliest: { readonly key: Key; coolUntil: number } | undefined;
    for (let tried = 0; tried < this.#keys.length; tried += 1) {
      const candidate = this.#keys[this.#next];
      this.#next = (this.#next + 1) % this.#keys.length;
      if (candidate === undefined) continue;
      // Most keys have never cooled down, so the clock is not read for them.
      if (candidate.coolUntil === 0 || candidate.coolUntil <= this.#clock()) return candidate.key;
      if (earliest === undefined || candidate.coolUntil < earliest.coolUntil) earliest = candidate;
    }
    return earliest?.key;
  }

  get hasSeveral(): boolean {
    return this.#keys.length > 1;
  }

  /** The ids of all keys, in the order of the configuration. */
  get ids(): readonly string[] {
    return this.#keys.map(({ key }) => key.id);
  }

  /** Finds a key by its id; undefined if the operator has removed it from the configuration. */
  find(id: string): Key | undefined {
    return this.#keys.find(({ key }) => key.id === id)?.key;
  }

  /** Whether another key could be used now. */
  hasOther({ id }: Key): boolean {
    const now = this.#clock();
    return this.#keys.some(({ key, coolUntil }) => key.id !== id && coolUntil <= now);
  }

  /** Lets a key rest whose fault or limit a failure was. */
  note(key: Key, failure: { name: FailureName; retryAfterMs: number | undefined }): void {
    const why = failureTraits[failure.name].key;
    if (why !== "fine") this.coolDown(key, why, failure.retryAfterMs);
  }

  coolDown({ id }: Key, why: "refused" | "limited", retryAfterMs: number | undefined): void {
    const milliseconds = why === "refused" ? REFUSED_COOL_DOWN_MS : (retryAfterMs ?? LIMITED_COOL_DOWN_MS);
    for (const candidate of this.#keys) {
      if (candidate.key.id === id) candidate.coolUntil = this.#clock() + milliseconds;
    }
  }
}

/** The id of the key with this secret. */
export function keyIdOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url").slice(0, KEY_ID_CHARACTERS);
}
