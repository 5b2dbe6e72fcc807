import type { Clock } from "../../core/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { type KeptText, KeptTexts } from "../cache/index.ts";
import type { StoredBytesStore } from "../stored-bytes/index.ts";

/** How long the last version of a page is kept. */
const TTL_MS = 90 * 24 * 3_600_000;

export interface PageHistoryOptions {
  store: StoredBytesStore;
  clock: Clock;
  logger: Pick<Logger, "warn">;
}

/** The markdown of pages whose changes are tracked, as each user has read them last. */
export class PageHistory {
  readonly #texts: KeptTexts;
  readonly #logger: Pick<Logger, "warn">;

  constructor({ store, clock, logger }: PageHistoryOptions) {
    this.#texts = new KeptTexts({ store, kind: "version", clock, ttlMs: TTL_MS });
    this.#logger = logger;
  }

  /** The user's last version under this key. Rejects if the storage fails: every page would seem to be new. */
  last(owner: string, key: string): Promise<KeptText | undefined> {
    return this.#texts.find(owner, key, TTL_MS);
  }

  /** Replaces the last version. Never rejects: the page has been delivered. */
  async keep(owner: string, key: string, markdown: string): Promise<void> {
    try {
      await this.#texts.put(owner, key, markdown);
    } catch (reason) {
      this.#logger.warn({ err: reason }, "a page whose changes are tracked could not be kept");
    }
  }
}
