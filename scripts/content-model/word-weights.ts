import { type contentTraining, loadExtraction } from "../../src/pages/index.ts";

const { training } = await loadExtraction();

type Block = contentTraining.Block;

/** Of one page, by word: how much of the page it is in or around, and how much of that is content. */
type WordShares = ReadonlyMap<string, { readonly all: number; readonly content: number }>;

/** What one page tells about words. */
export interface PageWords {
  readonly site: string;
  readonly all: number;
  readonly content: number;
  readonly classes: WordShares;
  readonly texts: WordShares;
}

/** Words of fewer sites say more about the sites. */
const classSitesMin = 6;
const textSitesMin = 10;
/** Pulls the weights of rare words towards zero, in pages. */
const prior = 0.7;
const weightMin = 0.15;

export function gatherWords(
  site: string,
  blocks: readonly Block[],
  { labels, weights }: { labels: Float32Array; weights: Float32Array },
): PageWords {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const portion = (index: number): number => (weights[index] ?? 0) / (sum === 0 ? 1 : sum);
  const shares = (wordsOf: (block: Block) => Iterable<string>): WordShares => {
    const found = new Map<string, { all: number; content: number }>();
    for (const block of blocks)
      for (const word of new Set(wordsOf(block))) {
        const share = found.get(word) ?? { all: 0, content: 0 };
        found.set(word, share);
        share.all += portion(block.index);
        share.content += portion(block.index) * (labels[block.index] ?? 0);
      }
    return found;
  };
  const content = blocks.reduce((total, { index }) => total + portion(index) * (labels[index] ?? 0), 0);
  return { site, all: 1, content, classes: shares(classWordsOf), texts: shares(training.scoredWords) };
}

function* classWordsOf({ region, inlineTokens }: Block): Generator<string> {
  yield* inlineTokens;
  for (let at: Block["region"] | undefined = region; at !== undefined; at = at.parent) yield* at.tokens;
}

export function weighWords(pages: readonly PageWords[]): contentTraining.WordWeights {
  return {
    classes: weigh(pages, ({ classes }) => classes, classSitesMin),
    texts: weigh(pages, ({ texts }) => texts, textSitesMin),
  };
}

function weigh(
  pages: readonly PageWords[],
  of: (page: PageWords) => WordShares,
  sitesMin: number,
): Map<string, number> {
  const sums = new Map<string, { all: number; content: number; sites: Set<string> }>();
  let all = 0;
  let content = 0;
  for (const page of pages) {
    all += page.all;
    content += page.content;
    for (const [word, share] of of(page)) {
      const sum = sums.get(word) ?? { all: 0, content: 0, sites: new Set() };
      sums.set(word, sum);
      sum.all += share.all;
      sum.content += share.content;
      sum.sites.add(page.site);
    }
  }
  const usual = content / all;
  const weights = new Map<string, number>();
  for (const [word, sum] of sums) {
    if (sum.sites.size < sitesMin) continue;
    const odds = (sum.content + prior * usual) / (sum.all - sum.content + prior * (1 - usual));
    const weight = Math.log(odds) - Math.log(usual / (1 - usual));
    if (Math.abs(weight) >= weightMin) weights.set(word, Math.round(weight * 10) / 10);
  }
  return weights;
}

/** The form that `model.json` has. */
export function writeWeights(weights: ReadonlyMap<string, number>): string {
  const entries = [...weights].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return entries.map(([word, weight]) => `${word}:${Math.round(weight * 10)}`).join(" ");
}
