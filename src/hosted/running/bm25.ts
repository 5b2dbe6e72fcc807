/** Scores of texts for a query (BM25), of which each text is read once and not kept. */

const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.75;

export class Bm25 {
  /** The words of the query, without repetition. */
  readonly #words: ReadonlyMap<string, number>;
  /** Of each text: how often it has each word. */
  readonly #counts: number[][] = [];
  readonly #lengths: number[] = [];

  constructor(words: Iterable<string>) {
    this.#words = new Map([...new Set(words)].map((word, index) => [word, index]));
  }

  /** The next text, by its words. */
  add(words: readonly string[]): void {
    const counts = Array.from({ length: this.#words.size }, () => 0);
    for (const word of words) {
      const index = this.#words.get(word);
      if (index !== undefined) counts[index] = (counts[index] ?? 0) + 1;
    }
    this.#counts.push(counts);
    this.#lengths.push(words.length);
  }

  /** One for each text, in their order; 0 for one without any word of the query. */
  scores(): number[] {
    const texts = this.#lengths.length;
    const mean = this.#lengths.reduce((sum, length) => sum + length, 0) / Math.max(texts, 1) || 1;
    const weights = Array.from({ length: this.#words.size }, (_each, index) => {
      const having = this.#counts.reduce((sum, counts) => sum + ((counts[index] ?? 0) > 0 ? 1 : 0), 0);
      return Math.log(1 + (texts - having + 0.5) / (having + 0.5));
    });
    return this.#counts.map((counts, text) => {
      const norm = SATURATION * (1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * (this.#lengths[text] ?? 0)) / mean);
      return counts.reduce(
        (sum, count, index) => sum + ((weights[index] ?? 0) * count * (SATURATION + 1)) / (count + norm),
        0,
      );
    });
  }
}

/** The words of a text, in lower case. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
