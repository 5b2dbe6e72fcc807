import { type contentTraining, loadExtraction } from "../../src/pages/index.ts";
import { readPage, type KnownPage } from "../../bench/extraction/corpus.ts";
import { labelBlocks } from "./label-blocks.ts";
import { plainText, wordsOf } from "../../bench/extraction/score.ts";
import { gatherWords, type PageWords } from "./word-weights.ts";

const { training, parseHtml } = await loadExtraction();

/** Pages of one site are never split between training and test: there are this many parts. */
export const folds = 5;

/** A page of the corpus, ready to be learned from. */
export interface Sample {
  readonly known: KnownPage;
  readonly fold: number;
  readonly facts: contentTraining.PageFacts;
  /** By block, as `evaluate.mjs` counts them. */
  readonly words: readonly (readonly string[])[];
  readonly contentWords: readonly string[];
  readonly labels: Float32Array;
  readonly weights: Float32Array;
  readonly pageWords: PageWords;
}

export function readSample(known: KnownPage): Sample {
  const facts = training.describePage(parseHtml(readPage(known)), known.url);
  const texts = facts.blocks.map(({ text }) => text);
  const words = texts.map((text) => wordsOf(plainText(text)));
  const contentWords = wordsOf(known.content);
  const labels = labelBlocks(texts, known.content);
  const weights = weighBlocks(words, contentWords.length);
  const site = siteOf(known.url);
  const pageWords = gatherWords(site, facts.blocks, { labels, weights });
  return { known, fold: foldOf(site), facts, words, contentWords, labels, weights, pageWords };
}

/** A block weighs what it can do to the page's F1: its words over those of content and page. */
function weighBlocks(words: readonly (readonly string[])[], contentLength: number): Float32Array {
  const pageLength = words.reduce((sum, { length }) => sum + length, 0);
  const scale = contentLength + 0.25 * pageLength + 20;
  return Float32Array.from(words, ({ length }) => Math.min(1, (length + 0.3) / scale));
}

/** The last two labels of the host: near enough to what a site is. */
function siteOf(url: string): string {
  return URL.parse(url)?.hostname.split(".").slice(-2).join(".") ?? "";
}

function foldOf(site: string): number {
  let hash = 2_166_136_261;
  for (let at = 0; at < site.length; at += 1) hash = Math.imul(hash ^ site.charCodeAt(at), 16_777_619);
  return (hash >>> 0) % folds;
}
