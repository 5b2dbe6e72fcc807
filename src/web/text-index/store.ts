import type { SearchHit, SearchQuery } from "../search/query.ts";

/** A page as it is searched. */
export interface IndexedPage extends Pick<SearchHit, "url" | "title" | "description"> {
  /** The user: nobody else finds it. */
  owner: string;
  /** Equal for addresses of the same page. */
  key: string;
  text: string;
  /** As the page declares it, such as `de-AT`: its words are found by their stems. */
  language?: string | undefined;
  publishedAt?: number | undefined;
  storedAt: number;
  keptUntil: number;
}

export interface IndexSearch {
  owner: string;
  query: SearchQuery;
  limit: number;
  at: number;
  /** Milliseconds since the epoch, by the machine's clock: no statement begins after it. The pages found by then are the result. */
  until?: number;
}

/** The full-text index on either engine. */
export interface TextIndexStore {
  /** Replaces the owner's page of the same key. */
  put(page: IndexedPage): Promise<void>;
  /**
   * The owner's pages that fit best: those with all plain words, then those that lack some; those of a query without words, by their
   * age. Filters, phrases and exclusions hold for all of them.
   */
  search(search: IndexSearch): Promise<SearchHit[]>;
  /** Deletes the owner's oldest pages beyond this number. */
  trim(owner: string, pagesMax: number): Promise<void>;
  deleteExpired(at: number): Promise<void>;
}
