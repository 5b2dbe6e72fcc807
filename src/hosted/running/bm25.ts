/** Scores of texts for a query (BM25), of which each text is read once and not kept. */

const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.75;

export class Bm25 {
  /** The words of the query, without repetition. */
  readonly #words: ReadonlyMap<string, number>;
  /** Of each text: how often it has each word. */
  readonly #counts: number[][] = [];
  readonly #lengths: number[] = [];
  /** Of each word: how many texts have it. */
  readonly #having: number[];

  constructor(words: Iterable<string>) {
    this.#words = new Map([...new Set(words)].map((word, index) => [word, index]));
    this.#having = Array.from({ length: this.#words.size }, () => 0);
  }

  /** The next text, by its words. */
  add(words: readonly string[]): void {
    const counts = Array.from({ length: this.#words.size }, () => 0);
    for (const word of words) {
      const index = this.#words.get(word);
      if (index === undefined) continue;
      if (counts[index] === 0) this.#having[index] = (this.#having[index] ?? 0) + 1;
      counts[index] = (counts[index] ?? 0) + 1;
    }
    this.#counts.push(counts);
    this.#lengths.push(words.length);
  }

  /** One for each text, in their order, each computed when it is taken; 0 for one without any word of the query. */
  *scores(): Generator<number> {
    const texts = this.#lengths.length;
    const mean = this.#lengths.reduce((sum, length) => sum + length, 0) / Math.max(texts, 1) || 1;
    const weights = this.#having.map((having) => Math.log(1 + (texts - having + 0.5) / (having + 0.5)));
    for (const [text, counts] of this.#counts.entries()) {
      const norm = SATURATION * (1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * (this.#lengths[text] ?? 0)) / mean);
      yield counts.reduce(
        (sum, count, index) => sum + ((weights[index] ?? 0) * count * (SATURATION + 1)) / (count + norm),
        0,
      );
    }
  }
}

/** The words of a text, in lower case. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
