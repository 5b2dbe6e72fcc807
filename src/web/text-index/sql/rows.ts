import { column, tableOf } from "../../../storage/index.ts";
import { extensionOf, type SearchHit, type SearchQuery, wordsOf } from "../../search/query.ts";
import type { IndexedPage } from "../store.ts";

/** Rows deleted at a time. */
export const deletedMax = 500;

const { text, integer } = column;

const found = { url: text, title: text, description: text };

export const hits = tableOf<SearchHit>(found);

interface StoredPage extends Omit<IndexedPage, "text"> {
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
});

/** The host from its end, so that the pages of a domain and its subdomains are one range: `com.example.www.`. */
export function reversedHost(host: string): string {
  return `${host
    .replace(/^www\./, "")
    .split(".")
    .toReversed()
    .join(".")}.`;
}

export function storedPageOf({ text: _text, ...page }: IndexedPage): StoredPage {
  return { ...page, host: reversedHost(new URL(page.url).hostname), extension: extensionOf(page.url) };
}

/** The words that most pages contain: they find nothing, and cost most. */
const COMMON = new Set(
  "a an and are as at be by for from how in is it of on or that the this to was what when where which who why will with".split(
    " ",
  ),
);

/** A text as the index has it: the words that queries are compared with, so that an engine has nothing left to decide. */
export function indexedText(content: string): string {
  return wordsOf(content).join(" ");
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
