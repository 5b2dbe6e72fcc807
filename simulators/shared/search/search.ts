import type { Corpus, Entry } from "./corpus.ts";
import type { Term } from "./query.ts";

/** An entry that matches a query. */
export interface Match {
  readonly entry: Entry;
  readonly score: number;
}

/**
 * The entries that fulfil all conditions and contain at least one of the words, best first. Words in the title count
 * three times. A query that consists of conditions only matches every entry that fulfils them.
 */
export function searchCorpus(corpus: Corpus, terms: readonly Term[]): Match[] {
  const words = terms.filter(({ kind, negated }) => kind === "word" && !negated);
  const conditions = terms.filter((term) => !words.includes(term));
  const matches = corpus.flatMap((entry): Match[] => {
    if (!conditions.every((term) => holds(entry, term) !== term.negated)) return [];
    const score = words.reduce((sum, { text }) => sum + scoreOf(entry, text), 0);
    return score > 0 || (words.length === 0 && conditions.length > 0) ? [{ entry, score }] : [];
  });
  return matches.toSorted((a, b) => b.score - a.score || a.entry.url.localeCompare(b.entry.url));
}

function scoreOf({ title, description, text }: Entry, word: string): number {
  return (hasWord(title, word) ? 3 : 0) + (hasWord(`${description} ${text}`, word) ? 1 : 0);
}

/** Whether a word of the text begins with this one: `gauge` finds `gauges`, `rain` does not find `train`. */
function hasWord(text: string, word: string): boolean {
  return ` ${text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, " ")}`.includes(` ${word}`);
}

function holds({ url, title, description, text }: Entry, { kind, text: wanted }: Term): boolean {
  const { hostname, pathname } = new URL(url);
  switch (kind) {
    case "site":
      return isSite({ hostname, pathname }, wanted);
    case "filetype":
      return pathname.toLowerCase().endsWith(`.${wanted}`);
    case "intitle":
      return title.toLowerCase().includes(wanted);
    case "inurl":
      return url.toLowerCase().includes(wanted);
    case "word":
      return hasWord(`${title} ${description} ${text}`, wanted);
    case "phrase":
      return `${title} ${description} ${text}`.toLowerCase().includes(wanted);
  }
}

/** `site:` takes a host with its subdomains, and a path behind it. */
function isSite({ hostname, pathname }: { hostname: string; pathname: string }, wanted: string): boolean {
  const [host = "", ...path] = wanted.split("/");
  const isHost = hostname === host || hostname.endsWith(`.${host}`);
  return isHost && pathname.startsWith(`/${path.join("/")}`);
}

/** The entries that are at most so many days old on the day of the search. Entries without a date are left out. */
export function notOlder(entry: Entry, days: number, today: string): boolean {
  if (entry.date === null) return false;
  return Date.parse(today) - Date.parse(entry.date) <= days * 86_400_000;
}
