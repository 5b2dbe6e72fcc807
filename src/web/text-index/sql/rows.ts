import { extensionOf, type SearchQuery, wordsOf } from "../../search/query.ts";
import type { IndexedPage } from "../store.ts";

/** Rows deleted at a time. */
export const deletedMax = 500;

export interface HitRow {
  url: string;
  title: string;
  description: string;
}

/** The host from its end, so that the pages of a domain and its subdomains are one range: `com.example.www.`. */
export function reversedHost(host: string): string {
  return `${host
    .replace(/^www\./, "")
    .split(".")
    .toReversed()
    .join(".")}.`;
}

export function valuesOf(page: IndexedPage): [string, string, string, string, string, string, string, number, number] {
  const { owner, key, url, title, description, storedAt, keptUntil } = page;
  const host = reversedHost(new URL(url).hostname);
  return [owner, key, url, host, extensionOf(url), title, description, storedAt, keptUntil];
}

/** The words that most pages contain: they find nothing, and cost most. */
const COMMON = new Set(
  "a an and are as at be by for from how in is it of on or that the this to was what when where which who why will with".split(
    " ",
  ),
);

/** A text as the index has it: the words that queries are compared with, so that an engine has nothing left to decide. */
export function indexedText(text: string): string {
  return wordsOf(text).join(" ");
}

/** The words of a query that decide, all of them if there are no others, and its phrases. */
export function wantedOf({ words, phrases }: SearchQuery): { words: string[]; phrases: string[][] } {
  const parts = phrasesOf(words);
  const single = parts.flatMap((part) => (part.length === 1 ? part : []));
  const decisive = single.filter((word) => !COMMON.has(word));
  // A word of the query that consists of several indexed words, such as node.js or a Chinese word, is searched for as a phrase.
  const joined = [...parts, ...phrasesOf(phrases)].filter((part) => part.length > 1);
  const short = phrasesOf(phrases).flatMap((part) => (part.length === 1 ? part : []));
  const isAnythingElse = decisive.length + joined.length + short.length > 0;
  return { words: [...(isAnythingElse ? decisive : single), ...short], phrases: joined };
}

/** Texts as their words, without those that have none. */
export function phrasesOf(texts: readonly string[]): string[][] {
  return texts.map(wordsOf).filter((words) => words.length > 0);
}
