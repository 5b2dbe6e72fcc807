import type { Clock } from "../../core/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { StoredBytesStore } from "../stored-bytes/index.ts";
import { type KeptText, KeptTexts } from "./kept-texts.ts";

/** How long an entry is kept, whatever age a request accepts. */
const TTL_MS = 2 * 24 * 3_600_000;

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
  readonly #texts: KeptTexts;
  readonly #logger: Pick<Logger, "warn">;

  constructor({ store, clock, logger }: PageCacheOptions) {
    this.#texts = new KeptTexts({ store, kind: "page", clock, ttlMs: TTL_MS });
    this.#logger = logger;
  }

  /**
   * The user's entry under this key that is at most `maxAgeMs` old. `key` names everything that the page depends on: its
   * address and the options of the request.
   */
  async get(owner: string, key: string, maxAgeMs: number): Promise<KeptText | undefined> {
    if (maxAgeMs <= 0) return undefined;
    try {
      return await this.#texts.find(owner, key, maxAgeMs);
    } catch (reason) {
      this.#logger.warn({ err: reason }, "the cache of pages could not be read");
      return undefined;
    }
  }

  /** Stores the text of an entry, for later requests of the same user. Ignores one that is too large. */
  async put(owner: string, key: string, text: string): Promise<void> {
    try {
      await this.#texts.put(owner, key, text);
    } catch (reason) {
      this.#logger.warn({ err: reason }, "a page could not be cached");
    }
  }
}
