/** The passages of a page that answer a query (BM25 over its paragraphs), in their order. */

import { Bm25, wordsOf } from "./bm25.ts";

const PASSAGE_CHARACTERS_MAX = 900;

/** The part of a page that is looked at, whatever its length: it is read in one step. */
const PASSAGES_MAX = 600;
const CHARACTERS_MAX = 300_000;

/** At most so many characters. The beginning of the page if nothing in it has a word of the query. */
export function passagesOf(text: string, query: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const passages = split(text);
  const index = new Bm25(wordsOf(query));
  for (const passage of passages) index.add(wordsOf(passage));
  const scores = [...index.scores()];
  const ranked = [...passages.keys()].toSorted((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0));
  const chosen: number[] = [];
  let room = charactersMax;
  for (const place of ranked) {
    const length = (passages[place]?.trim().length ?? 0) + SEPARATOR.length;
    if ((scores[place] ?? 0) === 0 || length > room) continue;
    room -= length;
    chosen.push(place);
  }
  if (chosen.length === 0) return text.slice(0, charactersMax);
  return chosen
    .toSorted((one, other) => one - other)
    .map((place) => passages[place]?.trim() ?? "")
    .join(SEPARATOR);
}

const SEPARATOR = "\n…\n";

function split(text: string): string[] {
  return text
    .slice(0, CHARACTERS_MAX)
    .split(/\n[^\S\n]*\n/)
    .flatMap((paragraph) => paragraph.match(PIECES) ?? [])
    .slice(0, PASSAGES_MAX);
}

const PIECES = new RegExp(`[^]{1,${PASSAGE_CHARACTERS_MAX}}(?=\\s|$)|[^]{1,${PASSAGE_CHARACTERS_MAX}}`, "g");
