import type { Block } from "../blocks.ts";
import type { PageFacts } from "../page-facts.ts";
import { share, type Signal } from "./signal.ts";

const noHeading = -1000;

/** Where on the page a block is. */
export const placeSignals: readonly Signal[] = [
  { name: "words-before", of: ({ wordsBefore }) => Math.log1p(wordsBefore) },
  { name: "words-after", of: ({ wordsBefore }, { words }) => Math.log1p(words - wordsBefore) },
  { name: "place", of: ({ wordsBefore }, { words }) => share(wordsBefore, words) },
  { name: "block-place", of: ({ index }, { blocks }) => share(index, blocks.length) },
  { name: "depth", of: ({ region }) => region.depth },
  { name: "after-heading", of: blocksAfterHeading },
  { name: "words-after-heading", of: wordsAfterHeading },
  { name: "prose-before", of: ({ index }, { proseBefore }) => proseBefore[index] ?? 0 },
  { name: "prose-after", of: ({ index }, { proseAfter }) => proseAfter[index] ?? 0 },
];

function blocksAfterHeading({ index }: Block, { headingAt }: PageFacts): number {
  return headingAt < 0 ? noHeading : Math.max(-300, Math.min(600, index - headingAt));
}

function wordsAfterHeading({ wordsBefore }: Block, { headingAt, blocks }: PageFacts): number {
  const heading = blocks[headingAt];
  if (heading === undefined) return 0;
  const words = wordsBefore - heading.wordsBefore;
  return Math.sign(words) * Math.log1p(Math.abs(words));
}
