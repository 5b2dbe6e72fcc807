import { type Fetch, listOf } from "../../../core/index.ts";
import type { SearchBackend, SearchRequest } from "../backend.ts";
import type { SearchHit } from "../query.ts";
import { queryText } from "../query-text.ts";
import { askJson, hitOf, nextPage } from "./ask-json.ts";

/** Pages of results that are read for one search. A page has some ten results or more. */
const PAGES_MAX = 10;

/** A SearXNG instance, whose JSON format is switched on. */
export class SearxngBackend implements SearchBackend {
  readonly sources = ["web", "news", "images"] as const;
  readonly wishes = ["lang", "country"] as const;
  readonly #options: { fetch: Fetch; baseUrl: string };

  constructor(options: { fetch: Fetch; baseUrl: string }) {
    this.#options = options;
  }

  async search(request: SearchRequest): Promise<SearchHit[]> {
    const { limit, signal } = request;
    const { fetch, baseUrl } = this.#options;
    const hits = new Map<string, SearchHit>();
    for (let page = 1; page <= PAGES_MAX && hits.size < limit; page += 1) {
      const url = `${baseUrl}/search?${parametersOf(request, page).toString()}`;
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

const CATEGORIES = { web: undefined, news: "news", images: "images" } as const;

function parametersOf({ source, query, wishes: { lang, country }, at }: SearchRequest, page: number): URLSearchParams {
  const category = CATEGORIES[source];
  const range = query.since === undefined ? undefined : rangeSince(at - query.since);
  return new URLSearchParams({
    q: queryText(query),
    format: "json",
    pageno: String(page),
    ...(category !== undefined && { categories: category }),
    ...(lang !== undefined && { language: country === undefined ? lang : `${lang}-${country.toUpperCase()}` }),
    ...(range !== undefined && { time_range: range }),
  });
}

const DAY_MS = 24 * 3_600_000;

/** The shortest of SearXNG's ranges that has a time of this length; the results are filtered after. */
function rangeSince(ms: number): string | undefined {
  const ranges = { day: 1, week: 7, month: 31, year: 366 };
  return Object.entries(ranges).find(([, days]) => ms <= days * DAY_MS)?.[0];
}
