import type { Blocks, Region } from "../blocks.ts";

/** Words around an embedded element by which it is judged, the levels above it if they are looked for, and the share of them that must be kept. */
const aroundWordsMin = 60;
const aroundLevelsMax = 3;
const aroundShareMin = 0.6;

/** By region: its words that are kept. */
export function keptWords({ blocks, regions }: Blocks, kept: readonly boolean[]): number[] {
  const words = regions.map(() => 0);
  for (const block of blocks) {
    if (kept[block.index] !== true) continue;
    words[block.region.index] = (words[block.region.index] ?? 0) + block.facts.words;
  }
  for (const region of regions.toReversed()) {
    const { parent, index } = region;
    if (parent !== undefined) words[parent.index] = (words[parent.index] ?? 0) + (words[index] ?? 0);
  }
  return words;
}

/** Whether an element that few words judge, such as a table of figures, is in the midst of content. */
export function isWithinContent(region: Region, words: readonly number[]): boolean {
  if (region.linkWords * 2 > region.words) return false;
  let at = region.parent;
  for (let level = 0; level < aroundLevelsMax && at !== undefined; level += 1) {
    const around = at.words - region.words;
    const kept = (words[at.index] ?? 0) - (words[region.index] ?? 0);
    if (around >= aroundWordsMin) return kept >= around * aroundShareMin;
    at = at.parent;
  }
  return false;
}
