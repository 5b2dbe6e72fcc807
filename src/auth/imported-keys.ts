/** Keys that another gateway has issued, and callers go on using. */
import type { Clock } from "../core/index.ts";
import { hashOf } from "./token.ts";

/** An imported key with its token. */
export interface ImportedKey {
  /** The token whose account pays, and whose limits apply. */
  tokenId: string;
  /** Of the token's secret when the key was imported: the key ends with that, in the moment in which a rotation ends it. */
  secretHash: Uint8Array;
  /** From then on it is not accepted, in milliseconds since the epoch; undefined for no end of its own. */
  validUntil: number | undefined;
}

export interface ImportedKeyStore {
  /** By the SHA-256 of the whole key, the prefix included. */
  find(hash: Uint8Array): Promise<ImportedKey | undefined>;
  /** Whether there are any. */
  hasAny(): Promise<boolean>;
}

/** The longest text that is taken for such a key. */
const CHARACTERS_MAX = 512;

const SHAPE = /^sk-[\x21-\x7e]+$/;

/** Whether it has the form of a key of LiteLLM; those of some providers have it too. */
export function isImportable(text: string): boolean {
  return text.startsWith("sk-") && text.length <= CHARACTERS_MAX && SHAPE.test(text);
}

interface Read {
  key: ImportedKey;
  readAt: number;
}

interface ImportedKeysOptions {
  store: ImportedKeyStore;
  clock: Clock;
  /** How long a result is used without reading it again, in milliseconds. */
  freshMs: number;
}

/**
 * The imported keys of a process, by their hashes. Only those that exist are kept, so that guessed ones can't fill the memory; and
 * while none exists at all, the storage is not asked for each.
 */
export class ImportedKeys {
  readonly #store: ImportedKeyStore;
  readonly #clock: Clock;
  readonly #freshMs: number;
  readonly #read = new Map<string, Read>();
  #any: { exist: boolean; readAt: number } | undefined;
  #changes = 0;

  constructor({ store, clock, freshMs }: ImportedKeysOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#freshMs = freshMs;
  }

  /** Each is read again. */
  forget(): void {
    this.#changes += 1;
    this.#read.clear();
    this.#any = undefined;
  }

  /** The key, if that needs no look-up. */
  fresh(text: string): ImportedKey | undefined {
    const found = this.#read.get(nameOf(text));
    return found !== undefined && this.#isFresh(found) ? this.#usable(found.key) : undefined;
  }

  /** Undefined if it was never imported, or may not be used any more. */
  async find(text: string): Promise<ImportedKey | undefined> {
    const fresh = this.fresh(text);
    if (fresh !== undefined) return fresh;
    const name = nameOf(text);
    const changes = this.#changes;
    const readAt = this.#clock();
    let key: ImportedKey | undefined;
    try {
      if (!(await this.#haveAny())) return undefined;
      key = await this.#store.find(hashOf(text));
    } catch (reason) {
      // As of other tokens: one that was accepted stays so while the storage is unavailable.
      const cached = this.#read.get(name);
      if (cached === undefined) throw reason;
      return this.#usable(cached.key);
    }
    // A result that was read before a change but arrives after it is outdated and must not be kept.
    if (key !== undefined && changes === this.#changes) this.#read.set(name, { key, readAt });
    return key && this.#usable(key);
  }

  async #haveAny(): Promise<boolean> {
    if (this.#any !== undefined && this.#isFresh(this.#any)) return this.#any.exist;
    const changes = this.#changes;
    const readAt = this.#clock();
    const exist = await this.#store.hasAny();
    if (changes === this.#changes) this.#any = { exist, readAt };
    return exist;
  }

  #isFresh({ readAt }: { readAt: number }): boolean {
    const age = this.#clock() - readAt;
    return age >= 0 && age < this.#freshMs;
  }

  #usable(key: ImportedKey): ImportedKey | undefined {
    return key.validUntil !== undefined && key.validUntil <= this.#clock() ? undefined : key;
  }
}

/** The secrets themselves do not stay in memory. */
function nameOf(text: string): string {
  return Bun.SHA256.hash(text, "base64");
}
