/** The pages that a user has read, as the local back end searches them. */
import { type Clock, type JsonObject, matchesGlob, objectOf, untilAborted } from "../../core/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { namedAddress, pageKey } from "../crawl/page-address.ts";
import type { MappedSite, ScrapedPage, WebEngine, WebPlan } from "../engine.ts";
import type { SearchBackend, SearchRequest } from "../search/backend.ts";
import type { SearchHit } from "../search/query.ts";
import { withoutAddresses } from "../without-addresses.ts";
import type { TextIndexStore } from "./store.ts";

/** Pages of one user; the oldest make room. */
const PAGES_PER_USER_MAX = 100_000;

/** Pages that a process adds for a user before the oldest are looked for. */
const ADDED_MAX = 100;
const USERS_MAX = 10_000;

const TTL_MS = 30 * 24 * 3_600_000;

/** Characters of a page that are indexed: some milliseconds of work for the storage. */
const TEXT_CHARACTERS_MAX = 30_000;
const TITLE_CHARACTERS_MAX = 300;
const DESCRIPTION_CHARACTERS_MAX = 300;

export interface TextIndexOptions {
  store: TextIndexStore;
  clock: Clock;
  logger: Pick<Logger, "warn">;
  /** Users whose pages are not indexed, as globs. */
  withoutUsers: readonly string[];
}

export class TextIndex implements SearchBackend {
  readonly sources = ["web"] as const;
  readonly wishes = [];
  readonly emptyHint = "Only pages that you have scraped or crawled in the last 30 days are searched.";
  readonly #options: TextIndexOptions;
  readonly #added = new Map<string, number>();

  constructor(options: TextIndexOptions) {
    this.#options = options;
  }

  search({ query, limit, owner, until, signal }: SearchRequest): Promise<readonly SearchHit[]> {
    const { store, clock } = this.#options;
    const search = { owner, query, limit, at: clock(), until: performance.timeOrigin + until };
    return untilAborted(signal, store.search(search));
  }

  /** Adds a page that was read. Never rejects: a page that is not found later is no failure of its scrape. */
  async add(owner: string, { document, statusCode }: ScrapedPage): Promise<void> {
    const { store, clock, logger, withoutUsers } = this.#options;
    const page = statusCode < 400 ? contentOf(document) : undefined;
    if (page === undefined || withoutUsers.some((glob) => matchesGlob(glob, owner))) return;
    const storedAt = clock();
    try {
      await store.put({ ...page, owner, storedAt, keptUntil: storedAt + TTL_MS });
      await this.#count(owner);
    } catch (reason) {
      logger.warn({ err: reason }, "a page could not be indexed");
    }
  }

  async #count(owner: string): Promise<void> {
    const added = (this.#added.get(owner) ?? 0) + 1;
    if (this.#added.size >= USERS_MAX) this.#added.clear();
    this.#added.set(owner, added % ADDED_MAX);
    if (added === ADDED_MAX) await this.#options.store.trim(owner, PAGES_PER_USER_MAX);
  }
}

function contentOf({ markdown, metadata }: JsonObject) {
  const { url: address, title, description, language, publishedTime } = objectOf(metadata) ?? {};
  const url = typeof address === "string" ? namedAddress(address) : undefined;
  if (url === undefined || typeof markdown !== "string") return undefined;
  const text = withoutAddresses(markdown).slice(0, TEXT_CHARACTERS_MAX);
  return {
    key: pageKey(url, { ignoresQuery: false }),
    url: url.href,
    title: (typeof title === "string" ? title : "").slice(0, TITLE_CHARACTERS_MAX),
    description: (typeof description === "string" && description !== "" ? description : beginningOf(text)).slice(
      0,
      DESCRIPTION_CHARACTERS_MAX,
    ),
    text,
    language: typeof language === "string" ? language : undefined,
    publishedAt: typeof publishedTime === "string" ? momentOf(publishedTime) : undefined,
  };
}

/** Milliseconds; undefined for a text that names no moment of this age. */
function momentOf(text: string): number | undefined {
  const at = Date.parse(text);
  return at > 0 && at < MOMENT_MAX ? at : undefined;
}

/** The year 2200. */
const MOMENT_MAX = Date.UTC(2200, 0);

/** The first words of a text, without its markup. */
function beginningOf(markdown: string): string {
  return markdown
    .slice(0, 4 * DESCRIPTION_CHARACTERS_MAX)
    .replaceAll(/[#*_`>[\]!|-]+/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** An engine that adds each page to the index, unless the request wants nothing of it stored. */
export class IndexingEngine implements WebEngine {
  readonly #engine: WebEngine;
  readonly #index: TextIndex;

  constructor(engine: WebEngine, index: TextIndex) {
    this.#engine = engine;
    this.#index = index;
  }

  planScrape(body: JsonObject): WebPlan<ScrapedPage> {
    const plan = this.#engine.planScrape(body);
    if (body["storeInCache"] === false || body["zeroDataRetention"] === true) return plan;
    return {
      bound: plan.bound,
      run: async (context) => {
        const page = await plan.run(context);
        await this.#index.add(context.principal.user, page);
        return page;
      },
    };
  }

  planMap(body: JsonObject): WebPlan<MappedSite> {
    return this.#engine.planMap(body);
  }
}
