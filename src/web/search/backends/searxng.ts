import { type Fetch, listOf } from "../../../core/index.ts";
import type { SearchBackend, SearchRequest } from "../backend.ts";
import type { SearchHit } from "../query.ts";
import { queryText } from "../query-text.ts";
import { askJson, hitOf, nextPage } from "./ask-json.ts";

/** Pages of results that are read for one search. A page has some ten results or more. */
const PAGES_MAX = 10;

/** A SearXNG instance, whose JSON format is switched on. */
export class SearxngBackend implements SearchBackend {
  readonly #options: { fetch: Fetch; baseUrl: string };

  constructor(options: { fetch: Fetch; baseUrl: string }) {
    this.#options = options;
  }

  async search({ query, limit, signal }: SearchRequest): Promise<SearchHit[]> {
    const { fetch, baseUrl } = this.#options;
    const hits = new Map<string, SearchHit>();
    for (let page = 1; page <= PAGES_MAX && hits.size < limit; page += 1) {
      const parameters = new URLSearchParams({ q: queryText(query), format: "json", pageno: String(page) });
      const url = `${baseUrl}/search?${parameters.toString()}`;
      const body = await nextPage(hits.size, askJson(fetch, { url, signal }));
      if (body === undefined) break;
      const before = hits.size;
      for (const each of listOf(body["results"])) {
        const hit = hitOf(each, "content");
        if (hit !== undefined && !hits.has(hit.url)) hits.set(hit.url, hit);
      }
      if (hits.size === before) break;
    }
    return [...hits.values()];
  }
}
