/** The end of an article: what a page puts behind it, in whichever words. */
import { isProse, type Block, type Blocks, type Region } from "../blocks.ts";

/** Words of a teaser of another page, those of its headline, and levels between its text and the element around all of it. */
const teaserWordsMax = 100;
const headlineWordsMin = 3;
const teaserLevelsMax = 6;

/** Words that were left out between an article and a part that may be another one, and the share of the article's words which that has at most. */
const gapWordsMin = 30;
const partShareMax = 0.15;

/**
 * Takes teasers of other pages out of the kept blocks, in place: elements of a row of the same kind, each with a headline that is a link
 * and few other words. Those between the paragraphs of an article may be its own, such as the things that it compares.
 */
export function dropTeasers({ blocks, regions }: Blocks, kept: boolean[]): void {
  const teasers = teasersIn(blocks, regions);
  const inTeasers = blocks.filter((block) => above(block).some((region) => teasers.has(region)));
  const indexes = new Set(inTeasers.map(({ index }) => index));
  const last = blocks.findLast((block) => kept[block.index] === true && isProse(block) && !indexes.has(block.index));
  for (const { index } of inTeasers) if (index > (last?.index ?? -1)) kept[index] = false;
}

function teasersIn(blocks: readonly Block[], regions: readonly Region[]): ReadonlySet<Region> {
  const headlines = new Map<Region, number>();
  for (const block of blocks) {
    const { facts, linkWords } = block;
    if (facts.words === 0 || linkWords < facts.words) continue;
    for (const region of above(block)) headlines.set(region, (headlines.get(region) ?? 0) + facts.words);
  }
  const alike = new Map<Region, Map<number, number>>();
  const candidates = regions.filter(({ parent, words, tag, signature }) => {
    if (parent === undefined || words === 0) return false;
    const counts = alike.get(parent) ?? new Map<number, number>();
    alike.set(parent, counts.set(signature, (counts.get(signature) ?? 0) + 1));
    return words <= teaserWordsMax && tag !== "p";
  });
  const isOneOfMany = ({ parent, signature }: Region): boolean =>
    parent !== undefined && (alike.get(parent)?.get(signature) ?? 0) > 1;
  return new Set(
    candidates.filter((region) => (headlines.get(region) ?? 0) >= headlineWordsMin && isOneOfMany(region)),
  );
}

/** The elements that a block is in, from the inside out. */
function above({ region }: Block): Region[] {
  const regions: Region[] = [];
  for (let at: Region | undefined = region; at !== undefined && regions.length < teaserLevelsMax; at = at.parent)
    regions.push(at);
  return regions;
}

/** A run of kept blocks, with no more than a few words left out between them. */
interface Part {
  readonly blocks: Block[];
  words: number;
}

/** Takes short parts behind an article that are far from it, and in other elements than its paragraphs, out of the kept blocks, in place. */
export function dropDetached({ blocks }: Blocks, kept: boolean[]): void {
  const parts: Part[] = [];
  let leftOut = Number.POSITIVE_INFINITY;
  for (const block of blocks) {
    const { index, facts } = block;
    if (kept[index] !== true) {
      leftOut += facts.words;
      continue;
    }
    const open = parts.at(-1);
    const part = open === undefined || leftOut >= gapWordsMin ? { blocks: [], words: 0 } : open;
    if (part !== open) parts.push(part);
    part.blocks.push(block);
    part.words += facts.words;
    leftOut = 0;
  }
  const longest = parts.reduce<Part | undefined>(
    (best, part) => (part.words > (best?.words ?? 0) ? part : best),
    undefined,
  );
  if (longest === undefined) return;
  const places = new Set(longest.blocks.filter(isProse).map(({ region }) => region.parent));
  for (const { blocks: own, words } of parts.slice(parts.indexOf(longest) + 1)) {
    if (words >= longest.words * partShareMax || own.some(({ region }) => places.has(region.parent))) continue;
    for (const { index } of own) kept[index] = false;
  }
}
