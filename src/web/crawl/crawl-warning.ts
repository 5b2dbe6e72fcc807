/** The pages of a crawl that came from the cache are counted among its notes, and named in its `warning`. */
import type { CrawlFailure, CrawlNote } from "./store.ts";

export const fromCache: CrawlFailure = { code: "FROM_CACHE", message: "Pages were answered from the cache." };

export const isWarning = ({ code }: CrawlNote): boolean => code === fromCache.code;

export function crawlWarning(notes: readonly CrawlNote[]): string | undefined {
  const count = notes.find(isWarning)?.count;
  if (count === undefined) return undefined;
  const pages = count === 1 ? "1 page was" : `${count} pages were`;
  return `${pages} answered from your cache, at the full price. maxAge: 0 reads every page again.`;
}
