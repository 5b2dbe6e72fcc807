import { createHash } from "node:crypto";
import type { Clock } from "../../core/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { compressText, decompressText } from "../compress.ts";
import { BoundedBytes, type StoredBytesStore } from "../stored-bytes/index.ts";

/** The entries of one user: a crawl of a large site fits, its oldest pages make room for new ones. */
const ENTRIES_PER_USER_MAX = 10_000;
const BYTES_PER_USER_MAX = 256 * 1024 * 1024;

/** Bytes of one entry, compressed. A larger page is not cached. */
const ENTRY_BYTES_MAX = 4 * 1024 * 1024;

/** Characters of one entry before its compression. */
const ENTRY_CHARACTERS_MAX = 32 * 1024 * 1024;

/** How long an entry is kept, whatever age a request accepts. */
const TTL_MS = 2 * 24 * 3_600_000;

interface CachedPage {
  text: string;
  storedAt: number;
}

export interface PageCacheOptions {
  store: StoredBytesStore;
  clock: Clock;
  logger: Pick<Logger, "warn">;
}

/**
 * Pages as they were scraped, by user: two users never share an entry. Never rejects: a page that cannot be kept, or found
 * again, is no failure of its scrape.
 */
export class PageCache {
  readonly #bytes: BoundedBytes;
  readonly #clock: Clock;
  readonly #logger: Pick<Logger, "warn">;

  constructor({ store, clock, logger }: PageCacheOptions) {
    const bound = { countMax: ENTRIES_PER_USER_MAX, bytesMax: BYTES_PER_USER_MAX };
    this.#bytes = new BoundedBytes({ store, kind: "page", bound });
    this.#clock = clock;
    this.#logger = logger;
  }

  /**
   * The user's entry under this key that is at most `maxAgeMs` old. `key` names everything that the page depends on: its
   * address and the options of the request.
   */
  async get(owner: string, key: string, maxAgeMs: number): Promise<CachedPage | undefined> {
    if (maxAgeMs <= 0) return undefined;
    try {
      return await this.#find(owner, key, maxAgeMs);
    } catch (reason) {
      this.#logger.warn({ err: reason }, "the cache of pages could not be read");
      return undefined;
    }
  }

  async #find(owner: string, key: string, maxAgeMs: number): Promise<CachedPage | undefined> {
    const at = this.#clock();
    const found = await this.#bytes.find(idOf(owner, key), at);
    if (found === undefined || found.owner !== owner || found.storedAt < at - maxAgeMs) return undefined;
    const text = await decompressText(found.content);
    return { text, storedAt: found.storedAt };
  }

  /** Stores the text of an entry, for later requests of the same user. Ignores one that is too large. */
  async put(owner: string, key: string, text: string): Promise<void> {
    try {
      await this.#store(owner, key, text);
    } catch (reason) {
      this.#logger.warn({ err: reason }, "a page could not be cached");
    }
  }

  async #store(owner: string, key: string, text: string): Promise<void> {
    if (text.length > ENTRY_CHARACTERS_MAX) return;
    const content = await compressText(text);
    if (content.byteLength > ENTRY_BYTES_MAX) return;
    const storedAt = this.#clock();
    const id = idOf(owner, key);
    await this.#bytes.put({ id, owner, mediaType: "text/plain", content, storedAt, keptUntil: storedAt + TTL_MS });
  }
}

/** The user is part of the id, with its length, so that no key of another user can produce it. */
function idOf(owner: string, key: string): string {
  return createHash("sha256").update(`${owner.length} ${owner} ${key}`).digest("hex");
}
