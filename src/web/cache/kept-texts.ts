import { createHash } from "node:crypto";
import type { Clock } from "../../core/index.ts";
import { compressText, decompressText } from "../compress.ts";
import { BoundedBytes, type BytesKind, type StoredBytesStore } from "../stored-bytes/index.ts";

/** The entries of one user: a crawl of a large site fits, its oldest pages make room for new ones. */
const ENTRIES_PER_USER_MAX = 10_000;
const BYTES_PER_USER_MAX = 256 * 1024 * 1024;

/** Bytes of one entry, compressed. A larger one is not kept. */
const ENTRY_BYTES_MAX = 4 * 1024 * 1024;

/** Characters of one entry before its compression. */
const ENTRY_CHARACTERS_MAX = 32 * 1024 * 1024;

export interface KeptText {
  text: string;
  storedAt: number;
}

export interface KeptTextsOptions {
  store: StoredBytesStore;
  kind: Exclude<BytesKind, "screenshot">;
  clock: Clock;
  ttlMs: number;
}

/** Texts of pages by user, compressed and bounded: two users never share an entry. Rejects if the storage fails. */
export class KeptTexts {
  readonly #options: KeptTextsOptions;
  readonly #bytes: BoundedBytes;

  constructor(options: KeptTextsOptions) {
    const { store, kind } = options;
    this.#options = options;
    this.#bytes = new BoundedBytes({
      store,
      kind,
      bound: { countMax: ENTRIES_PER_USER_MAX, bytesMax: BYTES_PER_USER_MAX },
    });
  }

  /** The user's entry under this key, unless it is older than that. */
  async find(owner: string, key: string, maxAgeMs: number): Promise<KeptText | undefined> {
    const at = this.#options.clock();
    const found = await this.#bytes.find(idOf(owner, key), at);
    if (found === undefined || found.owner !== owner || found.storedAt < at - maxAgeMs) return undefined;
    return { text: await decompressText(found.content), storedAt: found.storedAt };
  }

  /** Replaces the user's entry under this key. Ignores a text that is too large. */
  async put(owner: string, key: string, text: string): Promise<void> {
    if (text.length > ENTRY_CHARACTERS_MAX) return;
    const content = await compressText(text);
    if (content.byteLength > ENTRY_BYTES_MAX) return;
    const { clock, ttlMs } = this.#options;
    const storedAt = clock();
    const id = idOf(owner, key);
    await this.#bytes.put({ id, owner, mediaType: "text/plain", content, storedAt, keptUntil: storedAt + ttlMs });
  }
}

/** The user is part of the id, with its length, so that no key of another user can produce it. */
function idOf(owner: string, key: string): string {
  return createHash("sha256").update(`${owner.length} ${owner} ${key}`).digest("hex");
}
