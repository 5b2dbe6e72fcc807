import type { CallSignal } from "../../core/index.ts";
import type { SearchHit, SearchQuery } from "./query.ts";

/** A kind of results. */
export type SearchSource = "web" | "news" | "images";

/** Wishes beside the query, as callers name them. */
export interface SearchWishes {
  /** The place that the results are for, such as `Berlin, Germany`. */
  location?: string | undefined;
  /** Two letters. */
  country?: string | undefined;
  /** Such as `de`. */
  lang?: string | undefined;
}

export interface SearchRequest {
  source: SearchSource;
  query: SearchQuery;
  wishes: SearchWishes;
  limit: number;
  /** The user who searches. */
  owner: string;
  /** Milliseconds since the epoch. */
  at: number;
  signal: CallSignal;
  /** When the time of the request is over, by the performance clock. */
  until: number;
}

/** What finds pages. Its results need not obey all filters: they are filtered after. */
export interface SearchBackend {
  /** What to try if nothing is found, besides fewer words. */
  emptyHint?: string;
  /** The kinds of results that it has. */
  readonly sources: readonly SearchSource[];
  /** The wishes that it can fulfil. */
  readonly wishes: readonly (keyof SearchWishes)[];
  /** Resolves with results in their order, perhaps those before a failure; rejects with a `GatewayError` if there are none. */
  search(request: SearchRequest): Promise<readonly SearchHit[]>;
}
