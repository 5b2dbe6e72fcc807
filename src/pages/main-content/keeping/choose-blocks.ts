import type { Block } from "../blocks.ts";

/** Blocks of a lesser chance are left out however doubtful the page is. */
const chanceMin = 0.15;

/**
 * Chooses the blocks to keep, by the probability of each to be content: those with which the expected F1 over words is
 * highest. Where much is doubtful, this keeps more of it than a fixed threshold.
 */
export function chooseBlocks(
  blocks: readonly Block[],
  probabilities: ArrayLike<number>,
  leastChance = chanceMin,
): boolean[] {
  const chance = ({ index }: Block): number => probabilities[index] ?? 0;
  const order = blocks.toSorted((one, other) => chance(other) - chance(one));
  const expected = order.reduce((sum, block) => sum + block.facts.words * chance(block), 0);
  const kept = blocks.map(() => false);
  let right = 0;
  let words = 0;
  let best = 0;
  for (const block of order) {
    right += block.facts.words * chance(block);
    words += block.facts.words;
    const f1 = (2 * right) / (words + expected);
    if (f1 < best || chance(block) < leastChance) break;
    best = f1;
    kept[block.index] = true;
  }
  return kept;
}
