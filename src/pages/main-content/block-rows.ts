import type { Block, Region } from "./blocks.ts";
import { pageTypes, type PageTypeChances, type WordWeights } from "./model/model.ts";
import type { PageFacts } from "./page-facts.ts";
import { blockSignals, pageTypeSignals } from "./signals/index.ts";

const scoredWordsMax = 60;

const classColumns = ["class-own", "class-parent", "class-chain", "class-lowest", "class-highest"] as const;
const textColumns = ["text-mean", "text-sum", "text-lowest"] as const;

/** The names of the columns of `blockRows`. */
export const blockColumns: readonly string[] = [
  ...blockSignals.map(({ name }) => name),
  ...classColumns,
  ...textColumns,
  ...pageTypes.map((type) => `page-is-${type}`),
];

/** The row of the page type model, by `pageTypeSignals`. */
export function pageRow(page: PageFacts): Float32Array {
  return Float32Array.from(pageTypeSignals, ({ of }) => of(page));
}

/** The rows of the block model, block by block. The row is reused: read it before the next. */
export function* blockRows(page: PageFacts, weights: WordWeights, types: PageTypeChances): Generator<Float32Array> {
  const row = new Float32Array(blockColumns.length);
  const fillLearned = learnedColumns(page, weights, types);
  for (const block of page.blocks) {
    fillSignals(block, page, row);
    fillLearned(block, row);
    yield row;
  }
}

/** Sets the first columns of a row: those that need no training. */
export function fillSignals(block: Block, page: PageFacts, row: Float32Array): void {
  let column = 0;
  for (const { of } of blockSignals) {
    row[column] = of(block, page);
    column += 1;
  }
}

/** The sources of a row's columns after the signals. */
export function learnedColumns(
  page: PageFacts,
  weights: WordWeights,
  types: PageTypeChances,
): (block: Block, row: Float32Array) => void {
  const chains = weighChains(page.regions, weights.classes);
  const chances = pageTypes.map((type) => types[type]);
  const first = blockSignals.length;
  return (block, row) => {
    row.set(classWeights(block, chains, weights.classes), first);
    row.set(textWeights(block, weights.texts), first + classColumns.length);
    row.set(chances, first + classColumns.length + textColumns.length);
  };
}

/** The class weights of a region: its own, and over it and its ancestors. */
interface Chain {
  readonly own: number;
  readonly sum: number;
  readonly lowest: number;
  readonly highest: number;
}

const noChain: Chain = { own: 0, sum: 0, lowest: 0, highest: 0 };

function weighChains(regions: readonly Region[], weights: ReadonlyMap<string, number>): Chain[] {
  const chains: Chain[] = [];
  for (const { tokens, parent } of regions) {
    const own = sumOf(tokens, weights);
    const above = chains[parent?.index ?? -1] ?? noChain;
    const { sum, lowest, highest } = above;
    const isSame = own === 0 && above.own === 0;
    chains.push(
      isSame ? above : { own, sum: sum + own, lowest: Math.min(lowest, own), highest: Math.max(highest, own) },
    );
  }
  return chains;
}

function classWeights(
  { region, inlineTokens }: Block,
  chains: readonly Chain[],
  weights: ReadonlyMap<string, number>,
): number[] {
  const { own, sum, lowest, highest } = chains[region.index] ?? noChain;
  const parent = chains[region.parent?.index ?? -1] ?? noChain;
  return [own + sumOf(inlineTokens, weights), parent.own, sum, lowest, highest];
}

function textWeights(block: Block, weights: ReadonlyMap<string, number>): number[] {
  const words = scoredWords(block);
  let sum = 0;
  let lowest = 0;
  for (const word of words) {
    const weight = weights.get(word) ?? 0;
    sum += weight;
    lowest = Math.min(lowest, weight);
  }
  return [words.length === 0 ? 0 : sum / words.length, sum, lowest];
}

/** The first words of a block, numbers as one. */
export function scoredWords({ folded }: Block): readonly string[] {
  return folded.slice(0, scoredWordsMax).map((word) => (/\d/.test(word) ? "#" : word));
}

function sumOf(tokens: readonly string[], weights: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const token of tokens) sum += weights.get(token) ?? 0;
  return sum;
}
