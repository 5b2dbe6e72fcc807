import { extensionOf, wordsOf } from "../../search/query.ts";
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
    .replace(/:\d+$/, "")
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

/** The words of a query that decide; all of them if there are no others. */
export function decisiveWords(words: readonly string[]): string[] {
  const all = words.flatMap(wordsOf);
  const decisive = all.filter((word) => !COMMON.has(word));
  return decisive.length > 0 ? decisive : all;
}

/** The phrases of a list, as their words. */
export function phrasesOf(texts: readonly string[]): string[][] {
  return texts.map(wordsOf).filter((words) => words.length > 0);
}
