import type { PaidAnswer, PaidRequest } from "../charges/index.ts";
import { type JsonObject, objectOf } from "../core/index.ts";
import { creditsUsed } from "./credits-used.ts";
import type { MappedSite, ScrapedPage } from "./engine.ts";
import { type CrawlPreview, planPreview } from "./crawl/prompt/preview-crawl.ts";
import { performWork } from "./perform-work.ts";
import { optionsOf, parseForm, sentFile } from "./parse/parse-form.ts";
import { planSearch, type SearchResult } from "./search/search-web.ts";
import { type ApiVersion, type BodyTranslation, mapV1, scrapeV1, searchV1 } from "./v1/index.ts";
import type { WebDependencies } from "./web-dependencies.ts";

/** Pages of the web for callers: one at a time, or the addresses of a site. */
export class WebAccess {
  readonly #deps: WebDependencies;

  constructor(deps: WebDependencies) {
    this.#deps = deps;
  }

  /** `POST /v2/scrape`, or `/v1/scrape` */
  scrape(request: PaidRequest, version: ApiVersion = "v2"): Promise<PaidAnswer> {
    return performWork<ScrapedPage>(this.#deps, request, {
      operation: "scrape",
      translation: translationOf(version, scrapeV1),
      plan: (body) => this.#deps.engine.planScrape(body),
      answer: pageAnswer,
    });
  }

  /** `POST /v2/parse` */
  parse(request: PaidRequest): Promise<PaidAnswer> {
    const { reader, ...own } = this.#deps.files;
    return performWork<ScrapedPage>({ ...this.#deps, ...own }, request, {
      operation: "scrape",
      plan: () => {
        throw new Error("a file comes in a form");
      },
      form: {
        declaration: { body: parseForm, file: "file", sound: false },
        plan: (form) => {
          const asked = optionsOf(form.body);
          return { work: reader.planParse(sentFile(form), asked), asked };
        },
      },
      answer: pageAnswer,
    });
  }

  /** `POST /v2/map`, or `/v1/map` */
  map(request: PaidRequest, version: ApiVersion = "v2"): Promise<PaidAnswer> {
    return performWork<MappedSite>(this.#deps, request, {
      operation: "map",
      translation: translationOf(version, mapV1),
      plan: (body) => this.#deps.engine.planMap(body),
      answer: ({ links, warning }, credits) => ({
        success: true,
        links,
        ...(warning !== undefined && { warning }),
        creditsUsed: credits,
      }),
    });
  }

  /** `POST /v2/crawl/params-preview` */
  previewCrawl(request: PaidRequest): Promise<PaidAnswer> {
    return performWork<CrawlPreview>(this.#deps, request, {
      operation: "crawl",
      plan: (body) => planPreview(body, this.#deps.model),
      answer: ({ url, options, warning }) => ({
        success: true,
        data: { url, ...options },
        ...(warning !== undefined && { warning }),
      }),
    });
  }

  /** `POST /v2/search`, or `/v1/search` */
  search(request: PaidRequest, version: ApiVersion = "v2"): Promise<PaidAnswer> {
    const { engine, search: backend, environment } = this.#deps;
    return performWork<SearchResult>(this.#deps, request, {
      operation: "search",
      translation: translationOf(version, searchV1),
      plan: (body) => planSearch({ engine, backend, clock: environment.clock }, body),
      answer: ({ data, warning = null }, credits) => ({
        success: true,
        data: { ...data },
        warning,
        id: request.requestId,
        creditsUsed: credits,
      }),
    });
  }
}

function pageAnswer({ document }: ScrapedPage, credits: number, asked: JsonObject): JsonObject {
  const metadata = { ...objectOf(document["metadata"]), ...creditsUsed(asked, credits) };
  return { success: true, data: { ...document, metadata } };
}

function translationOf(version: ApiVersion, translation: BodyTranslation): BodyTranslation | undefined {
  return version === "v1" ? translation : undefined;
}
