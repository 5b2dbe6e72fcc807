/** In which order pages are looked for, on either engine. */
import type { SearchHit } from "../../search/query.ts";
import type { ScoredHit } from "./rows.ts";
import { type WantedWord, withNearWords } from "./wanted.ts";

/** How an engine finds pages: both look only at those that pass all filters and have all phrases. */
export interface FindingPages {
  /** The pages that have all words, the best first. */
  all: (words: readonly WantedWord[]) => Promise<SearchHit[]>;
  /** The newest pages that have the word, with their part of the score. */
  scored: (word: WantedWord, most: number) => Promise<ScoredHit[]>;
}

/** Pages that are scored for all words of a query together. */
const SCORED_MAX = 2_000;

/** Words of a query that pages with a part of them are looked for by: each is a statement. */
const SCORED_WORDS_MAX = 16;

interface Bounds {
  limit: number;
  /** Milliseconds since the epoch, by the machine's clock. */
  until: number;
}

/**
 * Pages with all words, then, up to the limit, the best of those that lack some: the score of BM25 is a sum over the words. If there is
 * none, the words are also looked for with one letter off. Ends early, with fewer pages, when the time is over.
 */
export async function findPages(
  words: readonly WantedWord[],
  bounds: Bounds,
  finding: FindingPages,
): Promise<SearchHit[]> {
  const hits = await findAsWritten(words, bounds, finding);
  const wider = hits.length === 0 && !isOver(bounds) ? withNearWords(words) : undefined;
  return wider === undefined ? hits : findAsWritten(wider, bounds, finding);
}

async function findAsWritten(
  words: readonly WantedWord[],
  bounds: Bounds,
  { all, scored }: FindingPages,
): Promise<SearchHit[]> {
  if (isOver(bounds)) return [];
  const hits = await all(words);
  const { limit } = bounds;
  if (hits.length >= limit || words.length < 2) return hits;
  const scoredWords = words.slice(0, SCORED_WORDS_MAX);
  const most = Math.ceil(SCORED_MAX / scoredWords.length);
  const known = new Set(hits.map(({ url }) => url));
  const sums = new Map<string, ScoredHit>();
  for (const word of scoredWords) {
    if (isOver(bounds)) break;
    for (const hit of await scored(word, most)) {
      if (known.has(hit.url)) continue;
      sums.set(hit.url, { ...hit, score: hit.score + (sums.get(hit.url)?.score ?? 0) });
    }
  }
  const best = [...sums.values()].toSorted((a, b) => b.score - a.score).slice(0, limit - hits.length);
  return [...hits, ...best.map(({ score: _score, ...hit }) => hit)];
}

/** The clock is the same for the gateway and for the thread that may perform the search. */
function isOver({ until }: Bounds): boolean {
  return performance.timeOrigin + performance.now() >= until;
}
