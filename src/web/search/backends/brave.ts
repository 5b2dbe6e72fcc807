import { type Fetch, listOf, objectOf } from "../../../core/index.ts";
import type { SearchBackend, SearchRequest } from "../backend.ts";
import type { SearchHit } from "../query.ts";
import { queryText } from "../query-text.ts";
import { askJson, hitOf, nextPage } from "./ask-json.ts";

/** Results of one request, requests of one search, and words and characters of a query: the API's own bounds. */
const COUNT_MAX = 20;
const PAGES_MAX = 10;
const QUERY_WORDS_MAX = 50;
const QUERY_CHARACTERS_MAX = 400;

export interface BraveOptions {
  fetch: Fetch;
  baseUrl: string;
  apiKey: string;
}

/** Brave's search API. */
export class BraveBackend implements SearchBackend {
  readonly #options: BraveOptions;

  constructor(options: BraveOptions) {
    this.#options = options;
  }

  async search({ query, limit, signal }: SearchRequest): Promise<SearchHit[]> {
    const { fetch, baseUrl, apiKey } = this.#options;
    const hits: SearchHit[] = [];
    // The offset counts pages of `count` results, which must therefore stay the same.
    const count = String(Math.min(limit, COUNT_MAX));
    const q = queryText(query).split(" ", QUERY_WORDS_MAX).join(" ").slice(0, QUERY_CHARACTERS_MAX).toWellFormed();
    for (let offset = 0; offset < PAGES_MAX && hits.length < limit; offset += 1) {
      const parameters = new URLSearchParams({
        q,
        count,
        offset: String(offset),
        text_decorations: "false",
        result_filter: "web",
      });
      const init = { headers: { "x-subscription-token": apiKey, accept: "application/json" } };
      const url = `${baseUrl}/web/search?${parameters.toString()}`;
      const body = await nextPage(hits.length, askJson(fetch, { url, init, signal }));
      if (body === undefined) break;
      const results = listOf(objectOf(body["web"])?.["results"]);
      hits.push(...results.flatMap((each) => hitOf(each, "description") ?? []));
      if (results.length === 0 || objectOf(body["query"])?.["more_results_available"] !== true) break;
    }
    return hits;
  }
}
