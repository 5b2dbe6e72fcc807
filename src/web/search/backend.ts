import type { CallSignal } from "../../core/index.ts";
import type { SearchHit, SearchQuery } from "./query.ts";

export interface SearchRequest {
  query: SearchQuery;
  limit: number;
  /** The user who searches. */
  owner: string;
  signal: CallSignal;
}

/** What finds pages. Its results need not obey all filters: they are filtered after. */
export interface SearchBackend {
  /** What to try if nothing is found, besides fewer words. */
  emptyHint?: string;
  /** Resolves with results in their order, perhaps those before a failure; rejects with a `GatewayError` if there are none. */
  search(request: SearchRequest): Promise<readonly SearchHit[]>;
}
