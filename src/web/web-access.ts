import { CallAborter, shuttingDown } from "../core/index.ts";
import { creditsUsed } from "./credits-used.ts";
import type { MappedSite, ScrapedPage } from "./engine.ts";
import { performWork, type WebCall } from "./perform-work.ts";
import { planSearch, type SearchResult } from "./search/search-web.ts";
import type { WebDependencies } from "./web-dependencies.ts";

/** Pages of the web for callers: one at a time, or the addresses of a site. */
export class WebAccess {
  readonly #deps: WebDependencies;
  readonly #running = new Set<CallAborter>();
  #closing = false;

  constructor(deps: WebDependencies) {
    this.#deps = deps;
  }

  /** Requests that have not been answered. */
  get active(): number {
    return this.#running.size;
  }

  /** Accepts no requests from now on; running ones continue. */
  close(): void {
    this.#closing = true;
  }

  /** Ends the requests that still run, and releases their holds. */
  abortAll(): void {
    for (const abort of this.#running) abort.abort(shuttingDown());
  }

  /** `POST /v2/scrape` */
  scrape(call: WebCall): Promise<Response> {
    const { engine } = this.#deps;
    return this.#run((abort) =>
      performWork<ScrapedPage>(this.#deps, {
        operation: "scrape",
        call,
        plan: (body) => engine.planScrape(body),
        answer: ({ document }, credits, asked) => ({
          success: true,
          data: { ...document, metadata: { ...metadataOf(document), ...creditsUsed(asked, credits) } },
        }),
        abort,
      }),
    );
  }

  /** `POST /v2/map` */
  map(call: WebCall): Promise<Response> {
    const { engine } = this.#deps;
    return this.#run((abort) =>
      performWork<MappedSite>(this.#deps, {
        operation: "map",
        call,
        plan: (body) => engine.planMap(body),
        answer: ({ links, warning }, credits) => ({
          success: true,
          links,
          ...(warning !== undefined && { warning }),
          creditsUsed: credits,
        }),
        abort,
      }),
    );
  }

  /** `POST /v2/search` */
  search(call: WebCall): Promise<Response> {
    const { engine, search: backend } = this.#deps;
    return this.#run((abort) =>
      performWork<SearchResult>(this.#deps, {
        operation: "search",
        call,
        plan: (body) => planSearch({ engine, backend }, body),
        answer: ({ web, warning = null }, credits) => ({
          success: true,
          data: { web },
          warning,
          id: call.requestId,
          creditsUsed: credits,
        }),
        abort,
      }),
    );
  }

  async #run(work: (abort: CallAborter) => Promise<Response>): Promise<Response> {
    if (this.#closing) throw shuttingDown();
    const abort = new CallAborter();
    this.#running.add(abort);
    try {
      return await work(abort);
    } finally {
      this.#running.delete(abort);
    }
  }
}

function metadataOf({ metadata }: ScrapedPage["document"]): object {
  return typeof metadata === "object" && metadata !== null ? metadata : {};
}
