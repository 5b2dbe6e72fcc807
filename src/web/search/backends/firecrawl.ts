import { type Fetch, listOf, objectOf } from "../../../core/index.ts";
import type { SearchBackend, SearchRequest } from "../backend.ts";
import type { SearchHit } from "../query.ts";
import { queryText } from "../query-text.ts";
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
  readonly #options: FirecrawlSearchOptions;

  constructor(options: FirecrawlSearchOptions) {
    this.#options = options;
  }

  async search({ query, limit, signal }: SearchRequest): Promise<SearchHit[]> {
    const { fetch, baseUrl, apiKey } = this.#options;
    const init = {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ query: queryText(query).slice(0, QUERY_CHARACTERS_MAX), limit }),
    };
    const body = await askJson(fetch, { url: `${baseUrl}/v2/search`, init, signal });
    return listOf(objectOf(body["data"])?.["web"]).flatMap((each) => hitOf(each, "description") ?? []);
  }
}
