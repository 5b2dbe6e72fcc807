import { landmarks } from "../landmarks.ts";
import type { Region } from "../blocks.ts";
import type { PageFacts } from "../page-facts.ts";
import { isHeading } from "../tags.ts";

const besideContent = landmarks.nav | landmarks.footer | landmarks.aside;

/**
 * Keeps the main heading of a page directly before its content, in place, unless it is a part of the title, the name of the site;
 * takes a heading of the page's header out that stands directly before it: the caption of a search, or of a menu.
 */
export function keepHeading({ blocks, headingAt, head }: PageFacts, kept: boolean[]): void {
  const heading = blocks[headingAt];
  if (heading === undefined) return;
  const { region, text } = heading;
  const isFirst = kept.indexOf(true) === headingAt + 1;
  const isBeside = (region.landmarks & besideContent) !== 0 || isInHeader(region);
  const isSite = head.title.toLowerCase().includes(text.trim().toLowerCase());
  if (isFirst && !isBeside && !isSite) kept[headingAt] = true;
  const before = blocks[headingAt - 1];
  if (before !== undefined && isHeading(before.region.tag) && isInHeader(before.region)) kept[before.index] = false;
}

/** Whether it is in the header of the page, rather than in that of its content. */
function isInHeader({ landmarks: own }: Region): boolean {
  return (own & landmarks.header) !== 0 && (own & (landmarks.main | landmarks.article)) === 0;
}
