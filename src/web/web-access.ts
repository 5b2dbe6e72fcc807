import type { PaidAnswer, PaidRequest } from "../charges/index.ts";
import { objectOf } from "../core/index.ts";
import { creditsUsed } from "./credits-used.ts";
import type { MappedSite, ScrapedPage } from "./engine.ts";
import { performWork } from "./perform-work.ts";
import { planSearch, type SearchResult } from "./search/search-web.ts";
import type { WebDependencies } from "./web-dependencies.ts";

/** Pages of the web for callers: one at a time, or the addresses of a site. */
export class WebAccess {
  readonly #deps: WebDependencies;

  constructor(deps: WebDependencies) {
    this.#deps = deps;
  }

  /** `POST /v2/scrape` */
  scrape(request: PaidRequest): Promise<PaidAnswer> {
    return performWork<ScrapedPage>(this.#deps, request, {
      operation: "scrape",
      plan: (body) => this.#deps.engine.planScrape(body),
      answer: ({ document }, credits, asked) => ({
        success: true,
        data: { ...document, metadata: { ...objectOf(document["metadata"]), ...creditsUsed(asked, credits) } },
      }),
    });
  }

  /** `POST /v2/map` */
  map(request: PaidRequest): Promise<PaidAnswer> {
    return performWork<MappedSite>(this.#deps, request, {
      operation: "map",
      plan: (body) => this.#deps.engine.planMap(body),
      answer: ({ links, warning }, credits) => ({
        success: true,
        links,
        ...(warning !== undefined && { warning }),
        creditsUsed: credits,
      }),
    });
  }

  /** `POST /v2/search` */
  search(request: PaidRequest): Promise<PaidAnswer> {
    const { engine, search: backend } = this.#deps;
    return performWork<SearchResult>(this.#deps, request, {
      operation: "search",
      plan: (body) => planSearch({ engine, backend }, body),
      answer: ({ web, warning = null }, credits) => ({
        success: true,
        data: { web },
        warning,
        id: request.requestId,
        creditsUsed: credits,
      }),
    });
  }
}
