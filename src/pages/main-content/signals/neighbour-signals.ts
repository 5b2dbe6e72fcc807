import type { PageFacts } from "../page-facts.ts";
import { isHeading } from "../tags.ts";
import { flag, share, type Signal } from "./signal.ts";

const offsets: readonly number[] = [-2, -1, 1, 2];
const reaches: readonly number[] = [4, 12];

/** The sum over some blocks, given the sums before each block. */
function between(sums: Float64Array, from: number, to: number): number {
  const last = sums.length - 1;
  return (sums[Math.max(0, Math.min(to, last))] ?? 0) - (sums[Math.max(0, Math.min(from, last))] ?? 0);
}

function around(kind: keyof PageFacts["sums"], { sums }: PageFacts, index: number, reach: number): number {
  const own = between(sums[kind], index, index + 1);
  return between(sums[kind], index - reach, index + reach + 1) - own;
}

function atOffset(offset: number): Signal[] {
  return [
    { name: `words-at-${offset}`, of: ({ index }, { blocks }) => Math.log1p(blocks[index + offset]?.facts.words ?? 0) },
    {
      name: `links-at-${offset}`,
      of: ({ index }, { blocks }) => {
        const other = blocks[index + offset];
        return other === undefined ? -1 : share(other.linkWords, other.facts.words);
      },
    },
  ];
}

function within(reach: number): Signal[] {
  return [
    {
      name: `words-before-${reach}`,
      of: ({ index }, { sums }) => Math.log1p(between(sums.words, index - reach, index)),
    },
    {
      name: `words-after-${reach}`,
      of: ({ index }, { sums }) => Math.log1p(between(sums.words, index + 1, index + reach + 1)),
    },
    {
      name: `links-around-${reach}`,
      of: ({ index }, page) => share(around("linkWords", page, index, reach), around("words", page, index, reach)),
    },
    { name: `prose-around-${reach}`, of: ({ index }, page) => around("prose", page, index, reach) },
  ];
}

/** The blocks before and after a block. */
export const neighbourSignals: readonly Signal[] = [
  ...offsets.flatMap(atOffset),
  { name: "heading-before", of: ({ index }, { blocks }) => flag(isHeading(blocks[index - 1]?.region.tag ?? "")) },
  {
    name: "sibling-before",
    of: ({ index, region }, { blocks }) => flag(blocks[index - 1]?.region.parent === region.parent),
  },
  {
    name: "sibling-after",
    of: ({ index, region }, { blocks }) => flag(blocks[index + 1]?.region.parent === region.parent),
  },
  ...reaches.flatMap(within),
];
