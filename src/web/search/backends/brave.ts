import { type Fetch, listOf, objectOf } from "../../../core/index.ts";
import type { SearchBackend, SearchRequest, SearchSource } from "../backend.ts";
import type { SearchHit } from "../query.ts";
import { day, queryText } from "../query-text.ts";
import { askJson, hitOf, nextPage } from "./ask-json.ts";

/** Results of one request, requests of one search, and words and characters of a query: the API's own bounds. */
const COUNTS_MAX: Readonly<Record<SearchSource, number>> = { web: 20, news: 50, images: 200 };
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
  readonly sources = ["web", "news", "images"] as const;
  readonly wishes = ["country", "lang"] as const;
  readonly #options: BraveOptions;

  constructor(options: BraveOptions) {
    this.#options = options;
  }

  async search(request: SearchRequest): Promise<SearchHit[]> {
    const { query, limit, signal, source } = request;
    const { fetch, baseUrl, apiKey } = this.#options;
    const hits: SearchHit[] = [];
    // The offset counts pages of `count` results, which must therefore stay the same.
    const count = Math.min(limit, COUNTS_MAX[source]);
    const q = queryText(query).split(" ", QUERY_WORDS_MAX).join(" ").slice(0, QUERY_CHARACTERS_MAX).toWellFormed();
    const init = { headers: { "x-subscription-token": apiKey, accept: "application/json" } };
    for (let offset = 0; offset < PAGES_MAX && hits.length < limit; offset += 1) {
      const parameters = parametersOf(request, {
        q,
        count: String(count),
        ...(source !== "images" && { offset: String(offset) }),
      });
      const url = `${baseUrl}/${source}/search?${parameters.toString()}`;
      const body = await nextPage(hits.length, askJson(fetch, { url, init, signal }));
      if (body === undefined) break;
      const results = listOf(source === "web" ? objectOf(body["web"])?.["results"] : body["results"]);
      hits.push(...results.flatMap((each) => undecorated(hitOf(each, "description")) ?? []));
      // Pictures come on one page.
      const isLast = objectOf(body["query"])?.["more_results_available"] !== true;
      if (results.length === 0 || source === "images" || isLast) break;
    }
    return hits;
  }
}

/** News have the words of the query in bold, and no parameter against it. */
function undecorated(hit: SearchHit | undefined): SearchHit | undefined {
  return hit && { ...hit, title: withoutBold(hit.title), description: withoutBold(hit.description) };
}

function withoutBold(text: string): string {
  return text.replaceAll(/<\/?strong>/g, "");
}

function parametersOf(
  { source, query, wishes, at }: SearchRequest,
  parameters: Record<string, string>,
): URLSearchParams {
  const { since, until } = query;
  const country = wishes.country?.toUpperCase() ?? "";
  return new URLSearchParams({
    ...parameters,
    ...(source === "web" && { text_decorations: "false", result_filter: "web" }),
    ...(/^[A-Z]{2}$/.test(country) && { country }),
    ...(wishes.lang !== undefined && { search_lang: wishes.lang.toLowerCase() }),
    ...(source !== "images" &&
      (since !== undefined || until !== undefined) && {
        freshness: `${day(since ?? 0)}to${day((until ?? at + 1) - 1)}`,
      }),
  });
}
