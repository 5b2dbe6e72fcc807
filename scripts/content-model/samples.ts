import { type contentTraining, loadExtraction, type PageType } from "../../src/pages/index.ts";
import { readPage, type KnownPage } from "../../bench/extraction/corpus.ts";
import { labelBlocks } from "./label-blocks.ts";
import { plainText, wordsOf } from "../../bench/extraction/score.ts";
import { gatherWords, type PageWords } from "./word-weights.ts";

const { training, parseHtml, dropHidden } = await loadExtraction();

/** Pages of one site are never split between training and test: there are this many parts. */
export const folds = 5;

/** A page, ready to be learned from. */
export interface Sample {
  readonly type: PageType | undefined;
  /** How much its type counts in learning types. */
  readonly typeWeight: number;
  readonly fold: number;
  readonly facts: contentTraining.PageFacts;
  /** By block, as `evaluate.mjs` counts them. */
  readonly words: readonly (readonly string[])[];
  readonly contentWords: readonly string[];
  readonly labels: Float32Array;
  readonly weights: Float32Array;
  readonly pageWords: PageWords;
}

/** A page of the corpus. */
export function readSample(known: KnownPage): Sample {
  return sampleOf(readPage(known), known, { type: known.type, typeWeight: 1, share: 1 });
}

/** How much a page counts against one of the corpus: its type, and everything else. */
export interface SampleWeight {
  readonly type: PageType;
  readonly typeWeight: number;
  readonly share: number;
}

/** A page whose content is known as text. */
export function sampleOf(
  html: string,
  { url, content }: { url: string; content: string },
  { type, typeWeight, share }: SampleWeight,
): Sample {
  const facts = describe(html, url);
  const texts = facts.blocks.map(({ text }) => text);
  const words = texts.map((text) => wordsOf(plainText(text)));
  const contentWords = wordsOf(content);
  const labels = labelBlocks(texts, content);
  const weights = weighBlocks(
    words.map(({ length }) => length),
    contentWords.length,
  ).map((weight) => weight * share);
  const site = siteOf(url);
  const pageWords = gatherWords(site, facts.blocks, { labels, weights });
  return { type, typeWeight, fold: foldOf(site), facts, words, contentWords, labels, weights, pageWords };
}

/** A page as the extractor sees it. */
export function describe(html: string, url: string): contentTraining.PageFacts {
  const document = parseHtml(html);
  dropHidden(document);
  return training.describePage(document, url);
}

/** A block weighs what it can do to the page's F1: its words over those of content and page. */
export function weighBlocks(blockWords: readonly number[], contentWords: number): Float32Array {
  const pageWords = blockWords.reduce((sum, words) => sum + words, 0);
  const scale = contentWords + 0.25 * pageWords + 20;
  return Float32Array.from(blockWords, (words) => Math.min(1, (words + 0.3) / scale));
}

/** The last two labels of the host: near enough to what a site is. */
export function siteOf(url: string): string {
  return URL.parse(url)?.hostname.split(".").slice(-2).join(".") ?? "";
}

export function foldOf(site: string): number {
  let hash = 2_166_136_261;
  for (let at = 0; at < site.length; at += 1) hash = Math.imul(hash ^ site.charCodeAt(at), 16_777_619);
  return (hash >>> 0) % folds;
}
