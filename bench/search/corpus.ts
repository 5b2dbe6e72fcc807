/** Pages and queries with words as unevenly frequent as in real texts, made from a seed. */
import { randomFrom } from "../pages/corpus.ts";
import type { IndexedPage } from "../../src/web/index.ts";

/** The words of all pages; the n-th is about n times rarer than the first. */
const vocabulary = 40_000;
const hosts = 500;
const wordsOfPage = 300;

const wordAt = (rank: number): string => `w${rank.toString(36)}`;

/** A word by its frequency. */
function someWord(random: () => number): string {
  return wordAt(Math.floor(vocabulary ** random()));
}

function text(random: () => number, words: number): string {
  return Array.from({ length: words }, () => someWord(random)).join(" ");
}

export function pageAt(index: number, owner: string, at: number): IndexedPage {
  const random = randomFrom(index);
  return {
    owner,
    key: `page-${index}`,
    url: `https://site-${index % hosts}.test/articles/${index}${index % 10 === 0 ? ".pdf" : ""}`,
    title: text(random, 8),
    description: text(random, 20),
    text: text(random, wordsOfPage),
    storedAt: at + index,
    keptUntil: at + 1e12,
  };
}

/** The words that searches leave out if there are others, as "the" and "of". */
const commonWords = 40;

/** A word of a query by its frequency. */
function wordOf(random: () => number): string {
  return wordAt(commonWords + Math.floor((vocabulary - commonWords) ** random()));
}

/** One of each kind in turns: from words that every other page contains to such that few do. */
const kinds: readonly ((random: () => number) => string)[] = [
  (random) => wordAt(commonWords + Math.floor(random() * 20)),
  (random) => wordAt(100 + Math.floor(random() * 1_000)),
  (random) => wordAt(2_000 + Math.floor(random() * 20_000)),
  (random) => `${wordOf(random)} ${wordOf(random)} ${wordOf(random)}`,
  (random) => `"${wordAt(commonWords + Math.floor(random() * 20))} ${wordOf(random)}"`,
  (random) => `${wordOf(random)} -${wordOf(random)}`,
  (random) => `${wordOf(random)} site:site-${Math.floor(random() * hosts)}.test`,
  (random) => `intitle:${wordOf(random)} filetype:pdf`,
];

export function queryAt(index: number): string {
  const random = randomFrom(index + 7_000_000);
  return kinds[index % kinds.length]?.(random) ?? "";
}
