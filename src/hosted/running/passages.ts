/** The passages of a page that answer a query (BM25 over its paragraphs), in their order. */

const PASSAGE_CHARACTERS_MAX = 900;
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.75;

/** The part of a page that is looked at, whatever its length: it is read in one step. */
const PASSAGES_MAX = 600;
const CHARACTERS_MAX = 300_000;

interface Passage {
  text: string;
  words: ReadonlyMap<string, number>;
  length: number;
}

/** At most so many characters. The beginning of the page if nothing in it has a word of the query. */
export function passagesOf(text: string, query: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  const passages = split(text).map(read);
  const scores = scoresOf(passages, new Set(wordsOf(query)));
  const ranked = [...passages.keys()].toSorted((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0));
  const chosen: number[] = [];
  let room = charactersMax;
  for (const index of ranked) {
    const length = (passages[index]?.text.length ?? 0) + SEPARATOR.length;
    if ((scores[index] ?? 0) === 0 || length > room) continue;
    room -= length;
    chosen.push(index);
  }
  if (chosen.length === 0) return text.slice(0, charactersMax);
  return chosen
    .toSorted((one, other) => one - other)
    .map((index) => passages[index]?.text ?? "")
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

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function read(text: string): Passage {
  const list = wordsOf(text);
  const words = new Map<string, number>();
  for (const word of list) words.set(word, (words.get(word) ?? 0) + 1);
  return { text: text.trim(), words, length: list.length };
}

function scoresOf(passages: readonly Passage[], query: ReadonlySet<string>): number[] {
  const mean = passages.reduce((sum, { length }) => sum + length, 0) / Math.max(passages.length, 1) || 1;
  const weights = new Map<string, number>();
  for (const word of query) {
    const having = passages.filter(({ words }) => words.has(word)).length;
    weights.set(word, Math.log(1 + (passages.length - having + 0.5) / (having + 0.5)));
  }
  return passages.map(({ words, length }) => {
    let score = 0;
    for (const [word, weight] of weights) {
      const count = words.get(word) ?? 0;
      const norm = count + SATURATION * (1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * length) / mean);
      score += (weight * count * (SATURATION + 1)) / norm;
    }
    return score;
  });
}
