import { type Fetch, listOf, objectOf } from "../../../core/index.ts";
import type { SearchBackend, SearchRequest } from "../backend.ts";
import type { SearchHit } from "../query.ts";
import { datesText, queryText } from "../query-text.ts";
import { askJson, hitOf } from "./ask-json.ts";

/** The API's own bound of a query. */
const QUERY_CHARACTERS_MAX = 500;

export interface FirecrawlSearchOptions {
  fetch: Fetch;
  /** Without /v2. */
  baseUrl: string;
  apiKey: string;
}

/** The search of a Firecrawl-compatible upstream. */
export class FirecrawlBackend implements SearchBackend {
  readonly sources = ["web", "news", "images"] as const;
  readonly wishes = ["location", "country"] as const;
  readonly #options: FirecrawlSearchOptions;

  constructor(options: FirecrawlSearchOptions) {
    this.#options = options;
  }

  async search({ source, query, wishes, limit, signal }: SearchRequest): Promise<SearchHit[]> {
    const { fetch, baseUrl, apiKey } = this.#options;
    const { location, country } = wishes;
    const text = `${queryText(query)} ${datesText(query)}`.trim().slice(0, QUERY_CHARACTERS_MAX);
    const init = {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ query: text, limit, sources: [source], location, country }),
    };
    const body = await askJson(fetch, { url: `${baseUrl}/v2/search`, init, signal });
    const results = listOf(objectOf(body["data"])?.[source]);
    return results.flatMap((each) => hitOf(each, source === "news" ? "snippet" : "description") ?? []);
  }
}
