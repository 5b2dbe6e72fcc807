import { isProse, type Block, type Blocks, type Region } from "./blocks.ts";
import type { HeadFacts } from "./head-facts.ts";
import { landmarks } from "./landmarks.ts";
import { foldedWords } from "./text-facts.ts";

/** Blocks at the same place of a template, links and plain text apart. */
export interface Group {
  blocks: number;
  words: number;
  linkWords: number;
  readonly first: number;
  last: number;
}

/** A page as the signals see it: its blocks, and the counts over all of them. */
export interface PageFacts extends Blocks {
  readonly url: URL | undefined;
  readonly head: HeadFacts;
  readonly linkWords: number;
  readonly proseWords: number;
  readonly mainWords: number;
  readonly articles: number;
  /** By block. */
  readonly groups: readonly Group[];
  /** How often each short text is on the page. */
  readonly repeats: ReadonlyMap<string, number>;
  /** The block with the page's main heading, or -1. */
  readonly headingAt: number;
  /** The region that most of the prose is in. */
  readonly densest: Region | undefined;
  /** By region: 0 in the densest region, else the levels from there up to the ancestor that both have. */
  readonly fromDensest: readonly number[];
  /** By region: the highest ancestor with less than half of the page's words. */
  readonly sections: readonly Region[];
  /** Before each block and at the end: words, words in links, blocks of prose. */
  readonly sums: { readonly words: Float64Array; readonly linkWords: Float64Array; readonly prose: Float64Array };
  /** Blocks to the nearest prose before and after each block. */
  readonly proseBefore: Int32Array;
  readonly proseAfter: Int32Array;
  readonly titleWords: ReadonlySet<string>;
  readonly descriptionWords: ReadonlySet<string>;
}

const repeatedTextMax = 200;
const proseDistanceMax = 500;

export function gatherPage(split: Blocks, head: HeadFacts, url: URL | undefined): PageFacts {
  const { blocks, regions } = split;
  countRepeatedChildren(regions);
  const densest = findDensest(blocks);
  const sums = sumUp(blocks);
  return {
    ...split,
    url,
    head,
    linkWords: sums.linkWords[blocks.length] ?? 0,
    proseWords: blocks.reduce((words, block) => words + (isProse(block) ? block.facts.words : 0), 0),
    mainWords: regions.reduce((words, region) => words + (opensMain(region) ? region.words : 0), 0),
    articles: regions.reduce((count, { tag }) => count + (tag === "article" ? 1 : 0), 0),
    groups: groupBlocks(blocks),
    repeats: countRepeats(blocks),
    headingAt: findHeading(blocks, head.title.toLowerCase()),
    densest,
    fromDensest: measureFrom(densest, regions),
    sections: findSections(regions, split.words),
    sums,
    proseBefore: proseDistances(blocks, "before"),
    proseAfter: proseDistances(blocks, "after"),
    titleWords: new Set(foldedWords(head.title)),
    descriptionWords: new Set(foldedWords(head.description)),
  };
}

function opensMain({ landmarks: own, parent }: Region): boolean {
  return (own & landmarks.main) !== 0 && ((parent?.landmarks ?? 0) & landmarks.main) === 0;
}

function sumUp(blocks: readonly Block[]): PageFacts["sums"] {
  const size = blocks.length + 1;
  const sums = { words: new Float64Array(size), linkWords: new Float64Array(size), prose: new Float64Array(size) };
  let words = 0;
  let linkWords = 0;
  let prose = 0;
  for (const block of blocks) {
    sums.words[block.index + 1] = words += block.facts.words;
    sums.linkWords[block.index + 1] = linkWords += block.linkWords;
    sums.prose[block.index + 1] = prose += isProse(block) ? 1 : 0;
  }
  return sums;
}

function groupBlocks(blocks: readonly Block[]): Group[] {
  const plain = new Map<number, Group>();
  const linked = new Map<number, Group>();
  return blocks.map((block) => {
    const groups = block.linkWords * 2 > block.facts.words ? linked : plain;
    const { signature } = block.region;
    const group = groups.get(signature) ?? { blocks: 0, words: 0, linkWords: 0, first: block.index, last: 0 };
    groups.set(signature, group);
    group.blocks += 1;
    group.words += block.facts.words;
    group.linkWords += block.linkWords;
    group.last = block.index;
    return group;
  });
}

function countRepeats(blocks: readonly Block[]): Map<string, number> {
  const repeats = new Map<string, number>();
  for (const { text } of blocks) {
    const trimmed = text.trim();
    if (trimmed.length <= repeatedTextMax) repeats.set(trimmed, (repeats.get(trimmed) ?? 0) + 1);
  }
  return repeats;
}

/** Sets `repeated` of each region. */
function countRepeatedChildren(regions: readonly Region[]): void {
  const counts = new Map<Region, Map<number, number>>();
  for (const { parent, words, signature } of regions) {
    if (parent === undefined || words === 0) continue;
    const ofParent = counts.get(parent) ?? new Map<number, number>();
    counts.set(parent, ofParent);
    const count = (ofParent.get(signature) ?? 0) + 1;
    ofParent.set(signature, count);
    parent.repeated = Math.max(parent.repeated, count);
  }
}

/** The first h1 whose text the title repeats, else the first h1. */
function findHeading(blocks: readonly Block[], title: string): number {
  const headings = blocks.filter(({ region }) => region.tag === "h1");
  const named = headings.find(({ text }) => {
    const trimmed = text.trim();
    return trimmed.length > 3 && title.includes(trimmed.toLowerCase());
  });
  return (named ?? headings[0])?.index ?? -1;
}

const outsideOfProse = landmarks.nav | landmarks.footer | landmarks.aside | landmarks.dialog;
/** How much of a block's score its ancestors get: the parent all of it, then ever less. */
const scoreShares: readonly number[] = [1, 0.7, 0.42, 0.25, 0.15];

/** Sentences and commas score for the elements around them, as in Arc90's Readability. */
function findDensest(blocks: readonly Block[]): Region | undefined {
  const scores = new Map<Region, number>();
  for (const block of blocks) {
    const { region, facts, linkWords } = block;
    if (!isProse(block) || region.hidden) continue;
    const marks = 1 + facts.commas + facts.sentenceEnds + Math.min(facts.words / 20, 5);
    const place = (region.landmarks & outsideOfProse) === 0 ? 1 : 0.2;
    const score = marks * place * (1 - linkWords / facts.words);
    let at: Region | undefined = region.parent ?? region;
    for (const share of scoreShares) {
      if (at === undefined) break;
      scores.set(at, (scores.get(at) ?? 0) + score * share);
      at = at.parent;
    }
  }
  let best: Region | undefined;
  let most = 0;
  for (const [region, score] of scores) {
    const weighed = score * (1 - region.linkWords / region.words);
    if (weighed <= most) continue;
    most = weighed;
    best = region;
  }
  return best;
}

const farFromDensest = 50;

function measureFrom(densest: Region | undefined, regions: readonly Region[]): number[] {
  if (densest === undefined) return regions.map(() => farFromDensest);
  const above = new Set<Region>();
  for (let at = densest.parent; at !== undefined; at = at.parent) above.add(at);
  const levels: number[] = [];
  for (const region of regions) {
    const inherited = region.parent === undefined ? farFromDensest : (levels[region.parent.index] ?? farFromDensest);
    if (region === densest) levels.push(0);
    else levels.push(above.has(region) ? densest.depth - region.depth : inherited);
  }
  return levels;
}

function findSections(regions: readonly Region[], words: number): Region[] {
  const sections: Region[] = [];
  for (const region of regions) {
    const { parent } = region;
    const small = parent !== undefined && parent.words < words * 0.5;
    sections.push(small ? (sections[parent.index] ?? region) : region);
  }
  return sections;
}

function proseDistances(blocks: readonly Block[], side: "before" | "after"): Int32Array {
  const distances = new Int32Array(blocks.length);
  let distance = proseDistanceMax;
  for (let step = 0; step < blocks.length; step += 1) {
    const block = blocks[side === "before" ? step : blocks.length - 1 - step];
    if (block === undefined) break;
    distances[block.index] = distance;
    distance = isProse(block) ? 1 : Math.min(distance + 1, proseDistanceMax);
  }
  return distances;
}
