import { isProse, type Block } from "../blocks.ts";
import type { PageFacts } from "../page-facts.ts";
import { isHeading } from "../tags.ts";
import { dropComments, dropForms } from "./drop-besides.ts";
import { dropDetached, dropTeasers } from "./trim-tail.ts";

/** The part of the words of an article that is in sentences, at least. Lists of links are taken for articles too. */
const proseShareMin = 0.6;

/** Blocks behind a heading in which its text begins. */
const headingReach = 40;

/** Words of a line that leads to the next one. */
const leadWordsMax = 8;

/**
 * Takes the lines that a model judges one by one, and that are no part of an article, out of the kept blocks, in place: those that are
 * a link alone (to other articles, to the parts of the site), comments, forms, teasers and short parts behind it, then headings and leads whose text
 * wasn't kept.
 */
export function trimArticle(page: PageFacts, kept: boolean[]): void {
  const { blocks, headingAt } = page;
  if (proseShare(blocks, kept) <= proseShareMin) return;
  dropComments(page, kept);
  dropForms(page, kept);
  dropTeasers(page, kept);
  dropDetached(page, kept);
  for (const { index, facts, linkWords } of blocks)
    if (facts.words > 0 && linkWords >= facts.words) kept[index] = false;
  // From the end: a heading of headings that go goes with them.
  for (const block of blocks.toReversed()) {
    const { index, region } = block;
    if (kept[index] !== true || index === headingAt) continue;
    const level = isHeading(region.tag) ? Number(region.tag.slice(1)) : 0;
    if (level > 1 ? !hasSection(index, level, blocks, kept) : isLead(block) && level === 0 && kept[index + 1] !== true)
      kept[index] = false;
  }
}

function proseShare(blocks: readonly Block[], kept: readonly boolean[]): number {
  let words = 0;
  let prose = 0;
  for (const block of blocks) {
    if (kept[block.index] !== true) continue;
    words += block.facts.words;
    if (isProse(block)) prose += block.facts.words;
  }
  return words === 0 ? 0 : prose / words;
}

/** Whether anything is kept between a heading and the next one of its level. */
function hasSection(at: number, level: number, blocks: readonly Block[], kept: readonly boolean[]): boolean {
  for (const { index, region } of blocks.slice(at + 1, at + 1 + headingReach)) {
    if (isHeading(region.tag) && Number(region.tag.slice(1)) <= level) return false;
    if (kept[index] === true) return true;
  }
  return false;
}

function isLead({ facts, text }: Block): boolean {
  return facts.words <= leadWordsMax && /[:：]\s*$/.test(text);
}
