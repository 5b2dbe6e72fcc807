import { column, tableOf } from "../../../storage/index.ts";
import { extensionOf } from "../../search/passes.ts";
import type { SearchHit } from "../../search/query.ts";
import { wordsOf } from "../../search/words.ts";
import type { IndexedPage } from "../store.ts";

/** Rows deleted at a time. */
export const deletedMax = 500;

const { text, integer, optional } = column;

const found = { url: text, title: text, description: text };

/** `dated_at` is computed. */
export const hits = tableOf<IndexedHit>({ ...found, datedAt: optional(integer) });

/** What a page's word counts for in a search, the best first. */
export const scoredHits = tableOf<ScoredHit>({ ...found, datedAt: optional(integer), score: column.real });

/** The index has no pictures. */
type IndexedHit = Omit<SearchHit, "image">;

export type ScoredHit = IndexedHit & { score: number };

interface StoredPage extends Omit<IndexedPage, "text" | "language"> {
  host: string;
  extension: string;
}

export const documents = tableOf<StoredPage>({
  owner: text,
  key: text,
  ...found,
  host: text,
  extension: text,
  storedAt: integer,
  keptUntil: integer,
  publishedAt: optional(integer),
});

/** The host from its end, so that the pages of a domain and its subdomains are one range: `com.example.www.`. */
export function reversedHost(host: string): string {
  return `${host
    .replace(/^www\./, "")
    .split(".")
    .toReversed()
    .join(".")}.`;
}

export function storedPageOf({ text: _text, language: _language, ...page }: IndexedPage): StoredPage {
  return { ...page, host: reversedHost(new URL(page.url).hostname), extension: extensionOf(page.url) };
}

/** A text as the index has it: the words that queries are compared with, so that an engine has nothing left to decide. */
export function indexedText(content: string): string {
  return wordsOf(content).join(" ");
}

/** Texts as their words, without those that have none. */
export function phrasesOf(texts: readonly string[]): string[][] {
  return texts.map(wordsOf).filter((words) => words.length > 0);
}
